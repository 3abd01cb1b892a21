package demo

import (
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

func colour(s *stage) trace.Question {
	return trace.Question{
		QuestionID: s.id("question"), Header: "Colour", Text: "Which colour?",
		Choices: []trace.Choice{{Label: "red"}, {Label: "green"}, {Label: "blue"}},
	}
}

func asks() beat {
	return seq(say("Before I go on, I have a question."), func(s *stage) error {
		chosen, err := s.answer(s.b.Question(colour(s)))
		if err != nil {
			return err
		}
		text := "Nobody answered, so I take no colour."
		if chosen != "" {
			text = "You chose " + chosen + "."
		}
		return seq(nextStep, say(text))(s)
	})
}

// answer waits for the answer to a question; it is empty if nobody gives one.
func (s *stage) answer(id string) (string, error) {
	answer, err := s.host.Ask(s.ctx, id)
	if s.ctx.Err() != nil {
		return "", s.ctx.Err()
	}
	if err != nil {
		return "", failure("The question could not be answered: " + err.Error())
	}
	if answer.Outcome != trace.Selected {
		return "", nil
	}
	return strings.Join(answer.Values, ", "), nil
}

// asksFreely asks something that has no choices.
func asksFreely() beat {
	return seq(say("I have found a river that has no name."), func(s *stage) error {
		name, err := s.answer(s.b.Question(trace.Question{
			QuestionID: s.id("question"), Header: "Name", Text: "What shall I call it?",
		}))
		if err != nil {
			return err
		}
		text := "Nobody answered, so it has no name."
		if name != "" {
			text = "I shall call it " + name + "."
		}
		return seq(nextStep, say(text))(s)
	})
}

// asksSeveral asks for one choice, for any number of them, and for free text.
func asksSeveral() beat {
	return seq(say("Before I go on, I have three questions."), func(s *stage) error {
		ids := s.b.Questions(
			colour(s),
			trace.Question{
				QuestionID: s.id("question"), Header: "Fish", Text: "Which fish?", Multiple: true,
				Choices: []trace.Choice{{Label: "trout"}, {Label: "pike"}, {Label: "eel"}},
			},
			trace.Question{QuestionID: s.id("question"), Header: "Name", Text: "What is its name?"},
		)
		answers := make([]string, len(ids))
		for i, id := range ids {
			var err error
			if answers[i], err = s.answer(id); err != nil {
				return err
			}
			if answers[i] == "" {
				answers[i] = "nothing"
			}
		}
		return seq(nextStep, say("You said: "+strings.Join(answers, "; ")+"."))(s)
	})
}

// mixes asks a question and for two commands, all at the same time.
func mixes() beat {
	return seq(say("I have a question, and would like to run two commands."), func(s *stage) error {
		question := s.b.Question(colour(s))
		var commands []*command
		for _, text := range []string{"echo one", "echo two"} {
			c, err := s.command(text)
			if err != nil {
				return err
			}
			c.ask(s)
			commands = append(commands, c)
		}
		chosen, err := s.answer(question)
		if err != nil {
			return err
		}
		if chosen == "" {
			chosen = "nothing"
		}
		return seq(nextStep, say("You chose "+chosen+".\n\n"), func(s *stage) error { return s.runAll(commands...) })(s)
	})
}
