package demo

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// script is something that the demo can play.
type script struct {
	word string // names the script in a prompt
	does string
	play func(*stage)
}

func scripts() []script {
	return []script{
		{"think", "reasoning, then text", think},
		{"tool", "text, a call whose input streams, its output, text in a next step", tool},
		{"fail", "a call that fails, and text that recovers", fail},
		{"parallel", "two calls in one step whose results come in the other order", parallel},
		{"approve", "a shell command that needs permission: allow, always, deny", approve},
		{"both", "two shell commands that need permission at the same time", both},
		{"beside", "as approve, beside a call that ends after the answer", beside},
		{"meanwhile", "as approve, beside a call that ends before the answer", meanwhile},
		{"twice", "a second permission after the first", twice},
		{"withdraw", "a permission that the agent takes back after 100 paces", withdraw},
		{"ask", "a question with three choices", ask},
		{"freely", "a question that takes any text", freely},
		{"several", "three questions at once: a choice, several choices, any text", several},
		{"mixed", "a question and two permissions, all at the same time", mixed},
		{"usage", "text and a usage record with a cost", usage},
		{"plan", "a plan that is worked off", plan},
		{"file", "sources and a file", file},
		{"data", "data parts: one that is updated, one that is transient", data},
		{"subagent", "a call whose sub-agent reasons, speaks and reads a file", subagent},
		{"error", "some text, then the turn fails", fails},
		{"slow", "as many words as a number in the prompt says (100), five paces apart: ten seconds at the default pace", slow},
		{"quiet", "some text, then nothing for 500 paces: ten seconds at the default pace", quiet},
		{"long", "as many words as a number in the prompt says (2,000)", long},
		{"clock", "the time in nanoseconds, as often as a number in the prompt says (100)", clock},
		{"big", "a call with 200 KB of output", big},
		{"unicode", "text cut inside its characters", cut},
		{"remember", "the earlier prompts of the session", remember},
		{"shell", "a command that prints coloured lines while it runs, and a command that fails", shell},
		{"edit", "an edit of a file, with its diff", edit},
		{"review", "edits of many files: created, modified, moved, deleted", review},
		{"markdown", "headings, a table, lists, code in three languages, and hostile HTML", markdown},
		{"read", "a file that is read", readFile},
		{"search", "a search in files, and a search for names", search},
		{"fetch", "a page that is fetched, and a search in the web", fetch},
		{"todo", "a todo list that is worked off by a tool", todo},
		{"nested", "a sub-agent that has a sub-agent, beside another one", nested},
		{"unknown", "calls of tools that no page knows: of an MCP server, with nested input", unknown},
		{"picture", "a picture that the agent made", picture},
		{"huge", "a call with as many MB of output as a number in the prompt says (5)", huge},
		{"context", "usage of a step, the turn and the session, with a context that is nearly full", fullContext},
		{"scopes", "a script of several lines that needs permission, with options of five scopes", scopes},
		{"change", "an edit of a file that needs permission; the user may change the new text", change},
		{"about", "the mode and the model that the demo works with", about},
		{"all", "text, reasoning, tool, fail, parallel and usage in one turn", all},
		{"hello", "text", hello},
		{"help", "this table", help},
	}
}

// choose finds the script for a prompt: the first of the table whose word is in it.
func choose(prompt string) func(*stage) {
	all := scripts()
	first := len(all)
	for word := range strings.FieldsFuncSeq(prompt, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	}) {
		if i := slices.IndexFunc(all[:first], func(s script) bool { return strings.EqualFold(s.word, word) }); i >= 0 {
			first = i
		}
	}
	if first < len(all) {
		return all[first].play
	}
	return func(s *stage) {
		s.say("I am the demo agent and play scripts; no word of yours names one. Say help for the list.")
	}
}

func help(s *stage) {
	var text strings.Builder
	text.WriteString("Put one of these words into your prompt:\n")
	for _, row := range scripts() {
		fmt.Fprintf(&text, "\n- `%s`: %s", row.word, row.does)
	}
	s.say(text.String())
}

func all(s *stage) {
	hello(s)
	think(s)
	tool(s)
	s.step()
	fail(s)
	s.step()
	parallel(s)
	usage(s)
}
