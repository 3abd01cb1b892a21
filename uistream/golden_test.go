package uistream_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

var update = flag.Bool("update", false, "write the golden files anew")

// everything is a turn that does all an agent can do.
func everything(t *testing.T, stop trace.Stop) []trace.Record {
	return write(t, stop, func(b *trace.Builder) {
		b.Emit(trace.Status{State: trace.StateThinking})
		b.ThoughtDelta("r", "Let me ")
		b.Thought("r", "Let me see.", "c2ln")
		b.MessageDelta("m", "I look ")
		b.Message("m", "I look at <it>.")
		b.ToolCallStart(trace.ToolCallStart{ToolCallID: "c1", RawName: "Read", Title: "Read a.go"})
		b.ToolCallDelta("c1", `{"path":"`+strings.Repeat("a", 600))
		b.ToolCallDelta("c1", `"}`)
		b.ToolCall(trace.ToolCall{ToolCallID: "c1", RawName: "Read", Title: "Read a.go", Input: json.RawMessage(`{"path":"a.go"}`)})
		b.ToolResultProgress("c1", json.RawMessage(`"pack"`))
		b.ToolResult(trace.ToolResult{ToolCallID: "c1", Status: trace.ToolCompleted, Output: json.RawMessage(`"package a"`)})
		b.Emit(trace.Usage{Scope: trace.UsageStep, InputTokens: 10, OutputTokens: 2})
		b.StepEnd()
		b.ToolCall(trace.ToolCall{ToolCallID: "c2", RawName: "Bash", Input: json.RawMessage(`{"command":"rm x"}`)})
		ask := trace.PermissionRequest{RequestID: "p1", ToolCallID: "c2", Title: "Run rm x", Options: []trace.PermissionOption{
			{ID: "once", Name: "Allow once", OptionKind: trace.AllowOnce}, {ID: "no", Name: "Reject", OptionKind: trace.RejectOnce},
		}}
		b.PermissionRequest(ask, trace.ToolCall{})
		b.PermissionResponse(trace.PermissionResponse{RequestID: "p1", Outcome: trace.Selected, ChosenOption: "no", By: "ann", Reason: "not today"})
		b.ToolResult(trace.ToolResult{ToolCallID: "c2", Status: trace.ToolDenied, Error: "Not allowed by ann."})
		b.Question(trace.Question{QuestionID: "q1", Text: "Which colour?", Choices: []trace.Choice{{Label: "red"}, {Label: "blue", Description: "like the sea"}}})
		b.Answer(trace.Answer{QuestionID: "q1", Outcome: trace.Selected, Values: []string{"blue"}, By: "ann"})
		b.ToolCall(trace.ToolCall{ToolCallID: "c3", RawName: "Task", Input: json.RawMessage(`{"prompt":"dig"}`)})
		sub := b.Under("c3")
		sub.Message("s", "Found it.")
		sub.ToolCall(trace.ToolCall{ToolCallID: "c4", RawName: "Grep"})
		sub.ToolResult(trace.ToolResult{ToolCallID: "c4", Status: trace.ToolFailed, Error: "no match"})
		b.ToolResult(trace.ToolResult{ToolCallID: "c3", Status: trace.ToolCompleted, Output: json.RawMessage(`{"text":"Found it."}`)})
		b.Emit(trace.Plan{Entries: []trace.PlanEntry{{Content: "dig", Status: trace.PlanCompleted}}})
		b.Emit(trace.FileChange{Path: "a.go", Change: trace.FileModified})
		b.Emit(trace.Source{SourceID: "s1", URL: "https://example.org", Title: "Example"})
		b.Emit(trace.File{URL: "data:text/plain,hi", MediaType: "text/plain"})
		b.Emit(trace.Data{Name: "progress", ID: "1", Value: json.RawMessage(`{"done":1}`)})
		b.Emit(trace.Error{Message: "The model is slow today."})
		b.MessageDelta("end", "Done.")
	})
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		client string
		o      uistream.Options
		stop   trace.Stop
	}{
		"default":  {"", uistream.Options{}, stopped},
		"client-5": {"5", uistream.Options{}, stopped},
		"client-7": {"7.0.173", uistream.Options{Subagents: uistream.SubagentsInline}, stopped},
		"rfc":      {"", uistream.Options{RFC: true, Subagents: uistream.SubagentsHidden}, stopped},
		"canceled": {"7", uistream.Options{}, trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled}},
		"failed":   {"", uistream.Options{}, trace.Stop{Reason: "crashed", Outcome: trace.OutcomeFailed, Error: "The agent crashed: exit status 2."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.o.Profile = profile(t, c.client)
			records := everything(t, c.stop)
			got := uistream.AppendTurn(nil, slices.Values(records), c.o, uistream.Framing{})
			compare(t, name+".sse", got)
			history, err := uistream.History(seq(durable(records)), c.o)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, name+".history.json", []byte(asJSON(history)+"\n"))
		})
	}
}

func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs (run with -update to accept):\n%s", name, got)
	}
}
