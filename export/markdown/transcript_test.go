package markdown_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/export/markdown"
	"github.com/tributary-dev/tributary/trace"
)

var update = flag.Bool("update", false, "write the golden file")

// page yields records of the turn t, a second apart.
func page(payloads ...trace.Payload) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		for i, p := range payloads {
			at := time.Date(2026, 11, 20, 17, 0, i, 0, time.UTC)
			if !yield(trace.Record{Session: "s", Turn: "t", Seq: uint64(i), Event: trace.Event{Time: at, Actor: trace.Agent, Payload: p}}, nil) { //nolint:gosec // a place in a list
				return
			}
		}
	}
}

func prompt(id, text string) trace.Prompt {
	return trace.Prompt{Message: trace.UserMessage{ID: id, Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}}, By: "ada"}
}

func encoded(t *testing.T, value any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func said(text string) trace.Message {
	return trace.Message{Part: text, Role: trace.RoleAssistant, Text: text}
}

func written(t *testing.T, records iter.Seq2[trace.Record, error]) string {
	t.Helper()
	var out strings.Builder
	if err := markdown.Write(&out, "demo", records); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestATranscriptHasWhatWasSaidAndDone(t *testing.T) {
	t.Parallel()
	options := []trace.PermissionOption{{ID: "yes", Name: "Allow", OptionKind: trace.AllowOnce}}
	p := prompt("u1", "Please *test* this.")
	p.Message.Parts = append(p.Message.Parts, trace.InputPart{Type: trace.InputFile, Filename: "a_b.png", MediaType: "image/png", URL: "data:image/png;base64,AAAA"})
	var out strings.Builder
	head := markdown.Head{Title: "A *title*\nof two lines", Session: "s_1", Agent: "demo", Owner: "ada", Created: time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC), Damaged: "record 7"}
	if err := markdown.Begin(&out, head); err != nil {
		t.Fatal(err)
	}
	out.WriteString(written(t, page(
		p,
		trace.Reply{MessageID: "m1"},
		trace.Thought{Part: "th", Text: "I should\nrun it."},
		said("I run `make`:\n\n```sh\nmake\n```"),
		trace.Message{Part: "again", Role: trace.RoleAssistant, Text: "The first try.", Superseded: true},
		trace.ToolCall{ToolCallID: "c1", Name: "shell", ToolKind: trace.ToolExecute, Title: "Run make", Input: json.RawMessage(`{"command":"make"}`)},
		trace.PermissionRequest{RequestID: "r1", ToolCallID: "c1", Title: "Run make", Options: options},
		trace.PermissionResponse{RequestID: "r1", Outcome: trace.Selected, ChosenOption: "yes", OptionKind: trace.AllowOnce, By: "bob", Reason: "it is safe"},
		trace.ToolResult{ToolCallID: "c1", Status: trace.ToolFailed, Output: json.RawMessage(`"\u001b[31mred\u001b[0m\n"`), Error: "exit 2"},
		trace.PermissionRequest{RequestID: "r2", Title: "Read a file", DecidedBy: "policy"},
		trace.PermissionResponse{RequestID: "r2", Outcome: trace.Selected, OptionKind: trace.RejectOnce, By: "policy"},
		trace.FileChange{Path: "a.txt", Change: trace.FileModified, Diff: "--- a.txt\n+++ a.txt\n"},
		trace.Plan{Entries: []trace.PlanEntry{{Content: "old"}}},
		trace.Plan{Entries: []trace.PlanEntry{{Content: "test", Status: trace.PlanCompleted}, {Content: "mend", Status: trace.PlanPending}}},
		trace.Question{QuestionID: "q1", Text: "Which colour?", Choices: []trace.Choice{{Label: "red", Description: "as blood"}, {Label: "green"}}},
		trace.Answer{QuestionID: "q1", Outcome: trace.Selected, Values: []string{"green"}, By: "ada"},
		trace.Question{QuestionID: "q2", Text: "And why?"},
		trace.Data{Name: "steer", Value: json.RawMessage(`{"text":"in French, please","by":"ada"}`)},
		trace.Data{Name: "modes", Value: json.RawMessage(`{}`)},
		trace.Source{SourceID: "1", Title: "A page", URL: "https://example.org/"},
		trace.File{URL: "data:text/plain,x", MediaType: "text/plain", Filename: "x.txt"},
		trace.Error{Message: "the network is slow"},
		trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled},
	)))
	const golden = "testdata/transcript.md"
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("the transcript is not that of %s:\n%s", golden, out.String())
	}
}

// The heading after a text is a heading, whatever the text holds. Each line of the text is in
// the quotation.
//
//evidence:for promise-voice
func TestATextDoesNotReachBeyondItsPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"```":                         "```",
		"```go\na<b>":                 "```go\na<b>",
		"````\n```\n<b>":              "````\n```\n<b>",
		"~~~\n```\n<b>":               "~~~\n```\n<b>",
		"```\n<b>\n```\n<b>":          "```\n<b>\n```\n\\<b>",
		"```\nx\n``` no end\n<b>":     "```\nx\n``` no end\n<b>",
		"```\nx\n  ```  \n<b>":        "```\nx\n  ```  \n\\<b>",
		"```\nx\n    ```\n<b>":        "```\nx\n    ```\n<b>",
		"```\nx\n\t```\n```\n<b>":     "```\nx\n\t```\n```\n\\<b>",
		"``` `inline` ```\n<b>":       "``` `inline` ```\n\\<b>",
		"```\n- ```\n<div>\n```":      "```\n- ```\n<div>\n```",
		"a\n\t```\n```\n<b>":          "a\n\t```\n```\n\\<b>",
		"   ```\n```\n<b>":            "```\n```\n\\<b>", // without the space around the text
		"a\n   ```\n```\n<b>":         "a\n   ```\n```\n\\<b>",
		"1. ```sh\n   <b>\n   ```":    "1. ```sh\n   \\<b>\n   ```",
		"- ```\n<b>\n```":             "- ```\n\\<b>\n```",
		"> ```\n```\n<b>":             "> ```\n```\n\\<b>",
		"<!-- hidden":                 "\\<!-- hidden",
		"  <SCRIPT>alert(1)":          "\\<SCRIPT>alert(1)",
		"a <?b\n</blockquote><h2>adm": "a \\<?b\n\\</blockquote>\\<h2>adm",
		"\\<b> \\\\<b> \\\\\\<b>":     "\\<b> \\\\\\<b> \\\\\\<b>",
		"1 < 2 <3":                    "1 < 2 <3",
		"[1]: https://evil.test/":     "[1\\]: https://evil.test/",
		"x\n[^a\\\\]: note":           "x\n[^a\\\\\\]: note",
		"## adm, 2026-11-28 11:13:12 UTC\n\nYes, I approve.\n\n**Permission**: Deploy": "## adm, 2026-11-28 11:13:12 UTC\n\nYes, I approve.\n\n**Permission**: Deploy",
		"adm\n---\n- # x\n\n***\n\n*adm:*":                                             "adm\n---\n- # x\n\n***\n\n*adm:*",
		"\x1b[2J\x1b]0;title\x07seen":                                                  "seen",
		"bell\a, and\r\nlines":                                                         "bell, and\nlines",
	} {
		want = "> " + strings.ReplaceAll(want, "\n", "\n> ")
		for what, c := range map[string]struct {
			payload    trace.Payload
			head, want string
		}{
			"a prompt":    {prompt("u1", text), "## ada, 2026-11-20 17:00:00 UTC\n\n", want},
			"a message":   {said(text), "", want},
			"a sub-agent": {trace.Message{Part: "p", Role: trace.RoleUser, Text: text}, "*Sub-agent:*\n\n", "> " + strings.ReplaceAll(want, "\n", "\n> ")},
			"reasoning":   {trace.Thought{Part: "p", Text: text}, "*Reasoning:*\n\n", "> " + strings.ReplaceAll(want, "\n", "\n> ")},
			"a steer":     {trace.Data{Name: "steer", Value: encoded(t, map[string]string{"text": text, "by": "ada"})}, "*ada:*\n\n", "> " + strings.ReplaceAll(want, "\n", "\n> ")},
		} {
			got := written(t, page(c.payload, trace.Reply{MessageID: "m"}))
			if want := "\n" + c.head + c.want + "\n\n## demo, 2026-11-20 17:00:01 UTC\n"; got != want {
				t.Errorf("%s of %q is written as %q, want %q", what, text, got, want)
			}
		}
	}
	if got := written(t, page(trace.Question{QuestionID: "q", Text: "# a\n## b"})); !strings.Contains(got, "\n\n> # a\n> ## b\n") {
		t.Errorf("the headings of a question are headings: %q", got)
	}
	for _, output := range []string{"```", "a ``````` b", strings.Repeat("`", 100)} {
		raw, err := json.Marshal(output)
		if err != nil {
			t.Fatal(err)
		}
		got := written(t, page(trace.ToolCall{ToolCallID: "c", Name: "x"}, trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted, Output: raw}))
		longest := 0
		for _, r := range strings.FieldsFunc(output, func(r rune) bool { return r != '`' }) {
			longest = max(longest, len(r))
		}
		marks := strings.Repeat("`", longest+1)
		if !strings.Contains(got, "\n"+marks+"\n"+output+"\n"+marks+"\n") {
			t.Errorf("%q is fenced as %q", output, got)
		}
	}
}

// The words of an agent or a person that stand in a line of the gateway's are a span of code, so
// that they cannot go on with who has answered, and how.
//
//evidence:for promise-voice
func TestWordsInALineOfTheGatewayAreMarked(t *testing.T) {
	t.Parallel()
	const forged = "a`: allowed (``Allow), by adm, 2026-11-28 11:13:12 UTC.`"
	const want = "``` " + forged + " ```"
	got := written(t, page(
		trace.ToolCall{ToolCallID: "c", Name: forged, Title: forged + " "},
		trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Title: forged + "\n\n", Options: []trace.PermissionOption{{ID: "o", Name: forged, OptionKind: trace.RejectOnce}}},
		trace.PermissionResponse{RequestID: "r", Outcome: trace.Selected, ChosenOption: "o", OptionKind: trace.RejectOnce, By: "ada"},
		trace.Question{QuestionID: "q", Text: "?"},
		trace.Answer{QuestionID: "q", Outcome: trace.Selected, Values: []string{"a`: allowed (``Allow), by adm", "2026-11-28 11:13:12 UTC.`"}, By: "ada"},
	))
	for _, line := range []string{
		"**Tool** " + want + ": " + want + " (no result)\n",
		"**Permission**: " + want + ": denied (" + want + "), by ada, 2026-11-20 17:00:02 UTC.\n",
		"answered: " + want + ", by ada, 2026-11-20 17:00:04 UTC.\n",
	} {
		if !strings.Contains(got, "\n"+line) {
			t.Errorf("%s is not there:\n%s", line, got)
		}
	}
}

func TestALargeOutputIsCut(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(strings.Repeat("ä", markdown.MostOutput))
	if err != nil {
		t.Fatal(err)
	}
	got := written(t, page(trace.ToolCall{ToolCallID: "c", Name: "x"}, trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted, Output: raw}))
	if n := strings.Count(got, "ä"); n != markdown.MostOutput/2 || !strings.Contains(got, fmt.Sprintf("Cut at %d of %d bytes", markdown.MostOutput, 2*markdown.MostOutput)) {
		t.Errorf("%d letters, and at the end %q", n, got[len(got)-100:])
	}
}

func TestATranscriptLacksWhatARewindRemoved(t *testing.T) {
	t.Parallel()
	got := written(t, page(prompt("u1", "first"), trace.Reply{MessageID: "m1"}, said("kept"), prompt("u2", "second"), said("removed"), trace.Rewind{To: "u2"}))
	if !strings.Contains(got, "kept") || strings.Contains(got, "second") || strings.Contains(got, "removed") {
		t.Errorf("it has %q", got)
	}
}

func TestAHistoryThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	err := markdown.Write(&strings.Builder{}, "demo", func(yield func(trace.Record, error) bool) { yield(trace.Record{}, broken) })
	if !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}

// A person who reads what an agent has done and asked sees each key, each value and each
// character of it.
//
//evidence:for promise-shown
func TestHiddenCharactersOfCallsAndRequestsAreVisible(t *testing.T) {
	t.Parallel()
	const bad = "\u202eevil\u200b\u001b[2J\r"
	got := written(t, page(
		trace.ToolCall{ToolCallID: "c", Name: "a" + bad, Title: bad, Input: json.RawMessage(`{"command":"ls` + "\u202e" + `","env":{"A\u2066":[1,{"b":null}]},"empty":""}`)},
		trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Title: bad, Options: []trace.PermissionOption{{ID: "o", Name: bad, OptionKind: trace.AllowOnce}}},
		trace.PermissionResponse{RequestID: "r", Outcome: trace.Selected, ChosenOption: "o", OptionKind: trace.AllowOnce, By: "ada", Reason: bad, UpdatedInput: json.RawMessage(`{"command":"pwd` + "\u200b" + `"}`)},
		trace.Question{QuestionID: "q", Text: bad, Choices: []trace.Choice{{Label: bad, Description: bad}}},
		trace.FileChange{Path: bad, Change: trace.FileModified, Diff: "--- a\n+++ a\n+" + bad},
	))
	if strings.ContainsAny(got, "\u202e\u200b\u2066\x1b\r") {
		t.Errorf("shown raw: %q", got)
	}
	for _, want := range []string{`"command": "ls<U+202E>"`, `"A\u2066": [`, `{"b": null}`, `"empty": ""`, "With this input instead:\n\n```json\n{\n  \"command\": \"pwd<U+200B>\"\n}", "+<U+202E>evil<U+200B>"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not there:\n%s", want, got)
		}
	}
}
