package trace_test

import (
	"encoding/json"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

func TestDataThatEveryAgentHasIsNamedOnce(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]trace.Payload{
		`{"name":"title","value":"Fix it"}`:                                                                                                     trace.Title("Fix it"),
		`{"name":"mode","id":"mode","value":{"mode":"plan"},"domain":true}`:                                                                     trace.CurrentMode("plan"),
		`{"name":"modes","id":"modes","value":{"current":"ask","modes":[{"id":"ask","name":"Ask"}]},"domain":true}`:                             trace.Modes("ask", []trace.Mode{{ID: "ask", Name: "Ask"}}),
		`{"name":"models","id":"models","value":{"models":[]},"domain":true}`:                                                                   trace.Models("", nil),
		`{"name":"commands","id":"commands","value":{"commands":[{"name":"init","description":"Begin <here>","hint":"[path]"}]},"domain":true}`: trace.Commands([]trace.Command{{Name: "init", Description: "Begin <here>", Hint: "[path]"}}),
		`{"message":"The model is busy.","code":"busy","level":"notice"}`:                                                                       trace.Notice("busy", "The model is busy."),
		`{"scope":"step","input_tokens":3,"output_tokens":0}`:                                                                                   trace.Usage{Scope: trace.UsageStep, InputTokens: 3},
	} {
		got, err := trace.MarshalPayload(p)
		if err != nil || string(got) != want {
			t.Errorf("%s, %v\nwant %s", got, err, want)
		}
		back, err := trace.UnmarshalPayload(p.Kind(), got)
		if again, _ := trace.MarshalPayload(back); err != nil || string(again) != want {
			t.Errorf("read back as %s, %v", again, err)
		}
		if !json.Valid(got) {
			t.Errorf("%s is no JSON", got)
		}
	}
}

func TestUnifiedDiff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after, want string }{
		"a change":                 {"a\nb\nc\n", "a\nB\nc\n", "--- f.go\n+++ f.go\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		"new":                      {"", "a\n", "--- /dev/null\n+++ f.go\n@@ -0,0 +1 @@\n+a\n"},
		"gone":                     {"a\n", "", "--- f.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"},
		"no line break at the end": {"a", "b", "--- f.go\n+++ f.go\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"},
		"equal":                    {"a", "a", ""},
		"binary":                   {"a", "\x00b", ""},
	} {
		if got := trace.UnifiedDiff("f.go", c.before, c.after); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}
