package demo

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// question makes a question, which any text answers if there are no choices.
func (s *stage) question(header, text string, choices ...string) trace.Question {
	q := trace.Question{QuestionID: s.id("question"), Header: header, Text: text}
	for _, label := range choices {
		q.Choices = append(q.Choices, trace.Choice{Label: label})
	}
	return q
}

func (s *stage) colour() trace.Question {
	return s.question("Colour", "Which colour?", "red", "green", "blue")
}

// ask asks questions together, and returns the ids for answer.
func (s *stage) ask(questions ...trace.Question) (ids []string) {
	if s.err != nil {
		return make([]string, len(questions))
	}
	return s.b.Questions(questions...)
}

// answer waits for the answer to a question. The answer is empty if the user gives none.
func (s *stage) answer(id string) string {
	if s.err != nil {
		return ""
	}
	answer, err := s.host.Ask(s.ctx, id)
	if s.err = s.ctx.Err(); s.err == nil && err != nil {
		s.err = fmt.Errorf("the question could not be answered: %w", err)
	}
	if answer.Outcome != trace.Selected {
		return ""
	}
	return strings.Join(answer.Values, ", ")
}

func ask(s *stage) {
	s.say("Before I go on, I have a question.")
	if chosen := s.answer(s.ask(s.colour())[0]); chosen != "" {
		s.next("You chose " + chosen + ".")
	} else {
		s.next("Nobody answered, so I take no colour.")
	}
}

func freely(s *stage) {
	s.say("I have found a river that has no name.")
	if name := s.answer(s.ask(s.question("Name", "What shall I call it?"))[0]); name != "" {
		s.next("I shall call it " + name + ".")
	} else {
		s.next("Nobody answered, so it has no name.")
	}
}

func several(s *stage) {
	s.say("Before I go on, I have three questions.")
	colour, fish := s.colour(), s.question("Fish", "Which fish?", "trout", "pike", "eel")
	fish.Multiple = true
	answers := s.ask(colour, fish, s.question("Name", "What is its name?"))
	for i, id := range answers {
		answers[i] = cmp.Or(s.answer(id), "nothing")
	}
	s.next("You said: " + strings.Join(answers, "; ") + ".")
}

func mixed(s *stage) {
	s.say("I have a question, and would like to run two commands.")
	question := s.ask(s.colour())[0]
	one := s.request(s.shell("echo one"))
	two := s.request(s.shell("echo two"))
	s.next("You chose " + cmp.Or(s.answer(question), "nothing") + ".\n\n")
	s.next(s.settle(s.ctx, one, two))
}
