package demo

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// beat is something the demo does in a turn.
type beat func(*stage) error

// script is a row of the table.
type script struct {
	word string
	does string
	play beat
}

// table is the table of the package comment.
func table() []script {
	return []script{
		{"think", "reasoning, then text", thinks()},
		{"tool", "text, a call whose input streams, its output, text in a next step", usesTool()},
		{"fail", "a call that fails, and text that recovers", failsTool()},
		{"parallel", "two calls in one step whose results come in the other order", parallel},
		{"approve", "a shell command that needs permission: allow, always, deny", approves()},
		{"both", "two shell commands that need permission at the same time", both},
		{"beside", "as approve, beside a call that ends after the answer", func(s *stage) error { return beside(s, false) }},
		{"meanwhile", "as approve, beside a call that ends before the answer", func(s *stage) error { return beside(s, true) }},
		{"twice", "a second permission after the first", twice()},
		{"withdraw", "a permission that the agent takes back after 100 paces", withdraws},
		{"ask", "a question with three choices", asks()},
		{"freely", "a question that takes any text", asksFreely()},
		{"several", "three questions at once: a choice, several choices, any text", asksSeveral()},
		{"mixed", "a question and two permissions, all at the same time", mixes()},
		{"usage", "text and a usage record with a cost", uses()},
		{"plan", "a plan that is worked off", plans()},
		{"file", "sources and a file", files()},
		{"data", "data parts: one that is updated, one that is transient", data()},
		{"subagent", "a call whose sub-agent reasons, speaks and reads a file", subagent},
		{"error", "some text, then the turn fails", errs()},
		{"slow", "100 words, five paces apart: ten seconds at the default pace", slow},
		{"quiet", "some text, then nothing for 500 paces: ten seconds at the default pace", quiet()},
		{"long", "2,000 words", long},
		{"clock", "the time in nanoseconds, as often as a number in the prompt says (100)", clock},
		{"big", "a call with 200 KB of output", big},
		{"unicode", "text cut inside its characters", splits},
		{"remember", "the earlier prompts of the session", remembers},
		{"all", "text, reasoning, tool, fail, parallel and usage in one turn", all()},
		{"hello", "text", hello()},
		{"help", "this table", help},
	}
}

// choose finds the script for a prompt.
func choose(prompt string) beat {
	words := strings.FieldsFunc(strings.ToLower(prompt), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	})
	for _, s := range table() {
		if slices.Contains(words, s.word) {
			return s.play
		}
	}
	return say("I am the demo agent and play scripts; no word of yours names one. Say help for the list.")
}

func help(s *stage) error {
	var text strings.Builder
	text.WriteString("Put one of these words into your prompt:\n")
	for _, row := range table() {
		fmt.Fprintf(&text, "\n- `%s`: %s", row.word, row.does)
	}
	return say(text.String())(s)
}

// seq plays one beat after the other.
func seq(beats ...beat) beat {
	return func(s *stage) error {
		for _, play := range beats {
			if err := play(s); err != nil {
				return err
			}
		}
		return nil
	}
}

func all() beat {
	return seq(hello(), thinks(), usesTool(), nextStep, failsTool(), nextStep, parallel, uses())
}
