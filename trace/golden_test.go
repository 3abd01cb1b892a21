package trace_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/trace"
)

var update = flag.Bool("update", false, "write the golden files anew")

// examples has one payload of every kind, with every field set.
func examples() []trace.Payload {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	cost := 0.0421
	at := []trace.Location{{Path: "src/main.go", Line: 7}}
	return []trace.Payload{
		trace.Prompt{
			Message: trace.UserMessage{
				ID: "msg-1",
				Parts: []trace.InputPart{
					{Type: trace.InputText, Text: "What is <b> & \"c\"? 🤔\n"},
					{Type: trace.InputFile, MediaType: "image/png", URL: "data:image/png;base64,AA==", Filename: "a.png"},
				},
				Metadata: raw(`{"tab":1}`),
			},
			By: "ann", Channel: "web", Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		},
		trace.Reply{MessageID: "msg-2", Cause: trace.CausePrompt, Resume: "conversation-1@message-8"},
		trace.MessageStart{Part: "text-1", Role: trace.RoleAssistant},
		trace.MessageDelta{Part: "text-1", Delta: "Hel"},
		trace.Message{Part: "text-1", Role: trace.RoleAssistant, Text: "Hello\u2028", Superseded: true},
		trace.ThoughtStart{Part: "thought-2"},
		trace.ThoughtDelta{Part: "thought-2", Delta: "hm"},
		trace.Thought{Part: "thought-2", Text: "hmm", Signature: "c2ln", Superseded: true},
		trace.ToolCallStart{ToolCallID: "call-1", RawName: "Bash", Name: "Shell", ToolKind: trace.ToolExecute, Title: "ls"},
		trace.ToolCallDelta{ToolCallID: "call-1", Delta: `{"comm`},
		trace.ToolCall{ToolCallID: "call-1", RawName: "Bash", Name: "Shell", ToolKind: trace.ToolExecute, Title: "ls", Input: raw(`{"command":"ls","n":1.50,"n":18446744073709551616}`), InputText: `{"comm`, Locations: at, Continues: "turn-0", ProviderState: raw(`{"signature":"c2ln"}`)},
		trace.ToolResultProgress{ToolCallID: "call-1", Output: raw(`"a.go\n"`)},
		trace.ToolResult{ToolCallID: "call-1", Status: trace.ToolFailed, Output: raw(`{"stdout":"a.go\n"}`), Error: "It was too slow.", Locations: at},
		trace.PermissionRequest{RequestID: "ask-1", ToolCallID: "call-1", Title: "Run ls?", Options: []trace.PermissionOption{{ID: "once", Name: "Allow", OptionKind: trace.AllowOnce}}, DecidedBy: "policy"},
		trace.PermissionResponse{RequestID: "ask-1", Outcome: trace.Selected, ChosenOption: "once", OptionKind: trace.AllowOnce, UpdatedInput: raw(`{"command":"ls -l"}`), By: "ann", Via: trace.ViaChat, Reason: "It only reads.", Interrupt: true, Rule: "rules[2]"},
		trace.Question{QuestionID: "ask-2", ToolCallID: "call-2", Header: "Colour", Text: "Which one?", Choices: []trace.Choice{{Label: "red", Description: "like a rose"}}, Multiple: true},
		trace.Answer{QuestionID: "ask-2", Outcome: trace.Selected, Values: []string{"red"}, Reason: "why", By: "ann", Via: trace.ViaWords},
		trace.Pause{Requests: []string{"ask-1"}, Held: true},
		trace.Step{Phase: trace.PhaseStart, Name: "plan", NativeID: "b1c2", Finish: "tool_use"},
		trace.Usage{Scope: trace.UsageTurn, InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, ReasoningTokens: 5, CostUSD: &cost, ContextUsed: 6, ContextSize: 7, Model: "m-1"},
		trace.Plan{Entries: []trace.PlanEntry{{Content: "Look", Status: trace.PlanInProgress}}},
		trace.FileChange{Path: "a.go", Change: trace.FileModified, ToolCallID: "call-1", Diff: "@@ -1 +1 @@\n-a\n+b\n"},
		trace.Source{SourceID: "src-1", URL: "https://example.com", Title: "Example", MediaType: "text/html", Filename: "index.html"},
		trace.File{URL: "data:text/plain,hi", MediaType: "text/plain", Filename: "hi.txt"},
		trace.Data{Name: "notice", ID: "n-1", Value: raw(`{"text":"hi"}`), Transient: true, Domain: true},
		trace.Rewind{To: "msg-1"},
		trace.Error{Message: "The model is busy.", Code: "overloaded", Level: trace.LevelNotice},
		trace.Status{State: trace.StateThinking, Detail: "reading"},
		trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeFailed, Class: trace.ClassGateway, Error: "The agent died.", FinalOutput: "Hello"},
	}
}

func record(p trace.Payload) trace.Record {
	return trace.Record{Session: "s-1", Turn: "turn-1", Seq: 12, Event: trace.Event{
		ID: "turn-1.7", Time: time.Date(2026, 3, 4, 5, 6, 7, 120_000_000, time.UTC), Parent: "turn-1.3", Actor: trace.Agent, Payload: p,
	}}
}

func TestL16_GoldenOfEveryKind(t *testing.T) {
	t.Parallel()
	var kinds []trace.Kind
	for _, p := range examples() {
		kinds = append(kinds, p.Kind())
		t.Run(string(p.Kind()), func(t *testing.T) {
			t.Parallel()
			everyFieldSet(t, reflect.ValueOf(p), string(p.Kind()))
			golden(t, string(p.Kind()), record(p))
		})
	}
	if diff := cmp.Diff(trace.Kinds(), kinds); diff != "" {
		t.Errorf("examples and Kinds differ:\n%s", diff)
	}
	r := record(trace.Step{Phase: trace.PhaseEnd})
	r.Turn, r.Parent, r.Actor = "", "", trace.Subagent("call-1")
	golden(t, "least", r)
}

// golden checks both directions: the record is written as the file has it, and
// the file is read as the record.
func golden(t *testing.T, name string, r trace.Record) {
	t.Helper()
	line, err := r.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "golden", name+".json")
	if *update {
		if err := os.WriteFile(file, append(line, '\n'), 0o644); err != nil { //nolint:gosec // a test file
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := append(line, '\n'); !bytes.Equal(got, want) {
		t.Errorf("written differently (-want +got):\n%s", cmp.Diff(string(want), string(got)))
	}
	var back trace.Record
	if err := json.Unmarshal(want, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, back); diff != "" {
		t.Errorf("read differently (-want +got):\n%s", diff)
	}
}

// everyFieldSet fails if a golden would not show a field of its payload.
func everyFieldSet(t *testing.T, v reflect.Value, name string) {
	t.Helper()
	switch v.Kind() { //nolint:exhaustive // the rest are leaves
	case reflect.Struct:
		for i := range v.NumField() {
			everyFieldSet(t, v.Field(i), name+"."+v.Type().Field(i).Name)
		}
	case reflect.Slice:
		if v.Len() == 0 {
			t.Errorf("%s is not set", name)
		}
		if v.Type().Elem().Kind() == reflect.Struct {
			for i := range v.Type().Elem().NumField() {
				set := false
				for j := range v.Len() {
					set = set || !v.Index(j).Field(i).IsZero()
				}
				if !set {
					t.Errorf("%s: no element sets %s", name, v.Type().Elem().Field(i).Name)
				}
			}
		}
	default:
		if v.IsZero() {
			t.Errorf("%s is not set", name)
		}
	}
}
