package uistream_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// turnsThatGrow are turns of which everything there is may be many. Each makes n
// of something.
var turnsThatGrow = map[string]func(put func(...trace.Payload), n int){
	"files": func(put func(...trace.Payload), n int) {
		for i := range 2 * n {
			put(trace.FileChange{Path: fmt.Sprint("dir/file", i%n)})
		}
	},
	"texts": func(put func(...trace.Payload), n int) {
		for i := range n {
			put(trace.MessageStart{Part: fmt.Sprint("part", i), Role: trace.RoleAssistant})
		}
		for i := range n {
			put(trace.Message{Part: fmt.Sprint("part", i), Role: trace.RoleAssistant, Text: "some text"})
		}
	},
	"calls of one step": func(put func(...trace.Payload), n int) {
		for i := range n {
			put(trace.ToolCallStart{ToolCallID: fmt.Sprint("call", i), Name: "bash"})
		}
		for i := range n {
			put(trace.ToolCall{ToolCallID: fmt.Sprint("call", i), Name: "bash", Input: json.RawMessage(`{}`)})
		}
		for i := range n {
			put(trace.ToolResult{ToolCallID: fmt.Sprint("call", i), Status: trace.ToolCompleted, Output: json.RawMessage(`{}`)})
		}
	},
	"calls of many steps": func(put func(...trace.Payload), n int) {
		for i := range n {
			put(
				trace.Step{Phase: trace.PhaseStart}, trace.ToolCall{ToolCallID: fmt.Sprint("call", i), Name: "bash", Input: json.RawMessage(`{}`)}, trace.Step{Phase: trace.PhaseEnd},
			)
		}
		for i := range n {
			put(trace.ToolResult{ToolCallID: fmt.Sprint("call", i), Status: trace.ToolCompleted, Output: json.RawMessage(`{}`)})
		}
	},
	"permissions": func(put func(...trace.Payload), n int) {
		for i := range n {
			call, request := fmt.Sprint("call", i), fmt.Sprint("request", i)
			put(
				trace.ToolCall{ToolCallID: call, Name: "bash", Input: json.RawMessage(`{}`)},
				trace.PermissionRequest{RequestID: request, ToolCallID: call, Title: "Run?", Options: []trace.PermissionOption{{ID: "yes", OptionKind: trace.AllowOnce}}},
				trace.Park{Requests: []string{request}},
				trace.PermissionResponse{RequestID: request, Outcome: trace.Selected, ChosenOption: "yes", OptionKind: trace.AllowOnce, By: "ada"},
				trace.ToolResult{ToolCallID: call, Status: trace.ToolCompleted, Output: json.RawMessage(`{}`)},
			)
		}
	},
	"permissions while a call is written": func(put func(...trace.Payload), n int) {
		for i := range n {
			request := fmt.Sprint("request", i)
			put(
				trace.ToolCallStart{ToolCallID: fmt.Sprint("call", i), Name: "bash"},
				trace.PermissionRequest{RequestID: request, Title: "Run?"},
				trace.Park{Requests: []string{request}},
				trace.PermissionResponse{RequestID: request, Outcome: trace.Selected, ChosenOption: "yes", By: "ada"},
			)
		}
	},
	"questions in many messages": func(put func(...trace.Payload), n int) {
		for i := range n {
			question := fmt.Sprint("question", i)
			put(
				trace.Question{QuestionID: question, Text: "Which?"}, trace.Park{Requests: []string{question}},
				trace.Answer{QuestionID: question, Outcome: trace.Selected, Values: []string{"this"}, By: "ada"},
				trace.Reply{MessageID: fmt.Sprint("m", i), Cause: trace.CauseAnswer},
			)
		}
	},
	"calls in many messages": func(put func(...trace.Payload), n int) {
		for i := range n {
			call := fmt.Sprint("call", i)
			put(
				trace.ToolCall{ToolCallID: call, Name: "bash", Input: json.RawMessage(`{}`)},
				trace.ToolResult{ToolCallID: call, Status: trace.ToolCompleted, Output: json.RawMessage(`{}`)},
				trace.Reply{MessageID: fmt.Sprint("m", i), Cause: trace.CauseSteer},
			)
		}
	},
}

// TestTimeGrowsWithTheTurn makes messages and chunks of turns of which one is eight
// times as long as the other. Quadratic work would take 64 times as long.
func TestTimeGrowsWithTheTurn(t *testing.T) {
	recordsOf := func(script func(put func(...trace.Payload), n int), n int) []trace.Record {
		all := []trace.Payload{trace.Prompt{Message: trace.UserMessage{ID: "u"}}, trace.Reply{MessageID: "m"}}
		script(func(p ...trace.Payload) { all = append(all, p...) }, n)
		return rec(trace.Agent, append(all, trace.Stop{Outcome: trace.OutcomeCompleted})...)
	}
	for reader, read := range map[string]func([]trace.Record){
		"history": func(records []trace.Record) {
			if _, err := uistream.History(seq(records), uistream.Options{}); err != nil {
				t.Fatal(err)
			}
		},
		"stream":               func(records []trace.Record) { translate(uistream.Options{}, records) },
		"stream by the letter": func(records []trace.Record) { translate(uistream.Options{Letter: true}, records) },
	} {
		for what, script := range turnsThatGrow {
			measure := func(n int) time.Duration {
				records, best := recordsOf(script, n), time.Hour
				for range 4 {
					start := time.Now()
					read(records)
					best = min(best, time.Since(start))
				}
				return best
			}
			small, large := measure(500), measure(4000)
			if large > 32*small {
				t.Errorf("%s of %s: 8 times the turn takes %v instead of %v", reader, what, large, small)
			}
		}
	}
}
