package eval_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/export/exporttest"
	"github.com/tributary-dev/tributary/trace"
)

// A person allows a call with another input: that is the call that ran.
func TestChangedInput(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	s.Turn(t.Context(), "go", completed(), func(b *trace.Builder) {
		call(b, "c", trace.ToolExecute, "Bash", `{"command":"rm -r ."}`)
		ask(b, "r", "c", "")
		b.PermissionResponse(trace.PermissionResponse{RequestID: "r", Outcome: trace.Selected, ChosenOption: "yes", UpdatedInput: json.RawMessage(`{"command":"ls"}`)})
		result(b, "c", trace.ToolCompleted)
	})
	expect(t, s, []expectation{
		{`{type: tools, calls: [{args: {command: ls}}]}`, eval.Passed, "tool_call", ""},
		{`{type: tools, not: true, calls: [{args: {command: "rm -r ."}}]}`, eval.Passed, "stop", ""},
	})
}

func TestRequestsOfUnknownTools(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	s.Turn(t.Context(), "go", completed(), func(b *trace.Builder) { ask(b, "r", "nowhere", "no") })
	for i, r := range s.Records { // the Builder makes a call for a request that has none
		switch r.Payload.(type) {
		case trace.ToolCall, trace.ToolResult:
			s.Records[i].Payload = trace.Plan{}
		}
	}
	expect(t, s, []expectation{
		{`{type: permission, asked: 1, denied: 1}`, eval.Passed, "permission_request permission_response", ""},
		{`{type: permission, kind: execute, asked: 1}`, eval.Unclear, "permission_request", "between 0 and 1"},
		{`{type: permission, kind: execute, asked: 2}`, eval.Failed, "permission_request", ""},
	})
	s = exporttest.NewSession()
	s.Turn(t.Context(), "go", completed(), func(b *trace.Builder) {
		call(b, "c", trace.ToolOther, "mcp", `{}`)
		ask(b, "r", "c", "no")
		result(b, "c", trace.ToolCompleted)
	})
	expect(t, s, []expectation{
		{`{type: permission, before_effect: true}`, eval.Failed, "tool_result", "mcp"},
		{`{type: permission, kind: execute, before_effect: true}`, eval.Unclear, "tool_result", "mcp"},
		{`{type: permission, kind: execute, denied: 0}`, eval.Unclear, "permission_response", ""},
	})
}

// Requests that wait at the same time are waited for once, and a policy needs no time.
func TestWaiting(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	s.Turn(t.Context(), "go", completed(), func(b *trace.Builder) {
		for _, id := range []string{"1", "2"} {
			call(b, "c"+id, trace.ToolExecute, "Bash", `{}`)
		}
		ask(b, "r1", "c1", "")
		ask(b, "r2", "c2", "")
		for _, id := range []string{"r1", "r2"} {
			b.PermissionResponse(trace.PermissionResponse{RequestID: id, Outcome: trace.Selected, ChosenOption: "yes"})
		}
	})
	var asked, answered trace.Record
	for _, r := range s.Records {
		switch r.Payload.(type) {
		case trace.PermissionRequest:
			if asked.ID == "" {
				asked = r
			}
		case trace.PermissionResponse:
			answered = r
		}
	}
	waited := answered.Time.Sub(asked.Time).Seconds()
	expect(t, s, []expectation{
		{fmt.Sprintf(`{type: budget, waiting_seconds: %f}`, waited), eval.Passed, "permission_request permission_request", ""},
		{fmt.Sprintf(`{type: budget, waiting_seconds: %f}`, waited-0.0005), eval.Failed, "permission_request permission_request", ""},
	})
	for i, r := range s.Records {
		if p, is := r.Payload.(trace.PermissionRequest); is {
			p.DecidedBy = "policy"
			s.Records[i].Payload = p
		}
	}
	expect(t, s, []expectation{{`{type: budget, waiting_seconds: 0}`, eval.Passed, "stop", ""}})
}

func TestWholeFigures(t *testing.T) {
	t.Parallel()
	turn := func(usages ...trace.Usage) *exporttest.Session {
		s := exporttest.NewSession()
		s.Turn(t.Context(), "hi", completed(), func(b *trace.Builder) {
			for _, u := range usages {
				b.StepStart(trace.Step{})
				call(b, "c"+fmt.Sprint(u.InputTokens), trace.ToolThink, "Task", `{}`)
				sub := b.Under("c" + fmt.Sprint(u.InputTokens))
				sub.Message("m", "sub")
				sub.MessageEnd("m")
				result(b, "c"+fmt.Sprint(u.InputTokens), trace.ToolCompleted)
				b.Emit(u)
				b.StepEnd()
			}
		})
		return s
	}
	// A figure of the turn has the tokens of sub-agents too.
	expect(t, turn(trace.Usage{Scope: trace.UsageTurn, InputTokens: 10, OutputTokens: 5}), []expectation{
		{`{type: budget, tokens: 15}`, eval.Passed, "usage", ""},
		{`{type: budget, tokens: 14}`, eval.Failed, "usage", ""},
		{`{type: budget, cost_usd: 1}`, eval.Unclear, "stop", "does not tell of US dollars"},
	})
	expect(t, turn(trace.Usage{Scope: trace.UsageStep, InputTokens: 10, CostUSD: new(0.5)}, trace.Usage{Scope: trace.UsageStep, InputTokens: 11}), []expectation{
		{`{type: budget, cost_usd: 0.6}`, eval.Unclear, "usage", "perhaps more"},
		{`{type: budget, cost_usd: 0.4}`, eval.Failed, "usage", ""},
	})
}

// What an edit removes was done, but not said.
func TestRemovedTurns(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	s.Turn(t.Context(), "go", trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed}, func(b *trace.Builder) {
		call(b, "c", trace.ToolDelete, "rm", `{}`)
		result(b, "c", trace.ToolCompleted)
	})
	s.Add("", trace.Event{Actor: trace.Gateway, Payload: trace.Rewind{To: "u1"}})
	s.Turn(t.Context(), "again", completed(), func(b *trace.Builder) { b.Message("m", "done"); b.MessageEnd("m") })
	expect(t, s, []expectation{
		{`{type: outcome, completed: true}`, eval.Passed, "stop", ""},
		{`{type: output, equals: done}`, eval.Passed, "stop", ""},
		{`{type: tools, not: true, calls: [{kind: delete}]}`, eval.Failed, "tool_call", ""},
		{`{type: errors}`, eval.Failed, "stop", ""},
	})
}

// An answer that came after the result did not allow the call.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	s.Turn(t.Context(), "go", completed(), func(b *trace.Builder) {
		call(b, "c", trace.ToolExecute, "Bash", `{}`)
		ask(b, "r", "c", "yes")
		result(b, "c", trace.ToolCompleted)
	})
	expect(t, s, []expectation{{`{type: permission, before_effect: true}`, eval.Passed, "permission_response", ""}})
	var answer, end int
	for i, r := range s.Records {
		switch r.Payload.(type) {
		case trace.PermissionResponse:
			answer = i
		case trace.ToolResult:
			end = i
		}
	}
	s.Records[answer], s.Records[end] = s.Records[end], s.Records[answer]
	s.Records[answer].Seq, s.Records[end].Seq = s.Records[end].Seq, s.Records[answer].Seq
	expect(t, s, []expectation{{`{type: permission, before_effect: true}`, eval.Failed, "tool_result", "ran before being allowed"}})
}
