package agenttest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// goodTurn has something of everything that the grammar governs.
func goodTurn(t *testing.T) []trace.Event {
	t.Helper()
	r := agenttest.NewRecorder()
	r.Emit(trace.Prompt{Message: trace.UserMessage{ID: "u"}})
	r.Emit(trace.Reply{MessageID: "m", Cause: trace.CausePrompt})
	r.ThoughtDelta("k", "hm")
	r.ThoughtEnd("k", "")
	r.MessageDelta("k", "one ")
	r.MessageDelta("k", "two")
	r.MessageEnd("k")
	r.ToolCallStart(trace.ToolCallStart{ToolCallID: "c", RawName: "shell"})
	r.ToolCallDelta("c", `{"a":1}`)
	r.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "shell", Input: json.RawMessage(`{"a":1}`)})
	id, _, _ := r.PermissionRequest(trace.PermissionRequest{RequestID: "p", ToolCallID: "c"}, trace.ToolCall{})
	r.PermissionResponse(trace.PermissionResponse{RequestID: id, Outcome: trace.Selected, OptionKind: trace.AllowOnce, By: "ann"})
	r.ToolResultProgress("c", json.RawMessage(`"half"`))
	r.Under("c").MessageDelta("k", "sub")
	r.Under("c").MessageEnd("k")
	r.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted, Output: json.RawMessage(`"whole"`)})
	r.StepStart(trace.Step{Name: "next"})
	question := r.Question(trace.Question{QuestionID: "q", Text: "?"})
	r.Answer(trace.Answer{QuestionID: question, Outcome: trace.Selected, Values: []string{"x"}, By: "ann"})
	r.Emit(trace.Data{Name: "d", Value: json.RawMessage(`1`)})
	if err := r.Finish(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted}); err != nil {
		t.Fatal(err)
	}
	return r.Events()
}

func TestGoodTurn(t *testing.T) {
	t.Parallel()
	if err := agenttest.CheckTurn(goodTurn(t)); err != nil {
		t.Error(err)
	}
}

// at finds the n-th event of a kind.
func at(t *testing.T, events []trace.Event, kind trace.Kind, n int) int {
	t.Helper()
	for i, e := range events {
		if e.Payload.Kind() == kind {
			if n == 0 {
				return i
			}
			n--
		}
	}
	t.Fatalf("the good turn has no such %s", kind)
	return -1
}

// Every event of the good turn is needed where it is, but for those that stand alone.
func TestCheckTurnFinds(t *testing.T) {
	t.Parallel()
	type events = []trace.Event
	drop := func(kind trace.Kind, n int) func(*testing.T, events) events {
		return func(t *testing.T, e events) events { i := at(t, e, kind, n); return slices.Delete(e, i, i+1) }
	}
	twice := func(kind trace.Kind) func(*testing.T, events) events {
		return func(t *testing.T, e events) events {
			i := at(t, e, kind, 0)
			again := e[i]
			again.ID += "'"
			return slices.Insert(e, i+1, again)
		}
	}
	change := func(kind trace.Kind, what func(*trace.Event)) func(*testing.T, events) events {
		return func(t *testing.T, e events) events { what(&e[at(t, e, kind, 0)]); return e }
	}
	for _, c := range []struct {
		name   string
		breaks func(*testing.T, events) events
		want   string
	}{
		{"no events", func(*testing.T, events) events { return nil }, "no stop"},
		{"no stop", drop(trace.KindStop, 0), "no stop"},
		{"two stops", twice(trace.KindStop), "follows the stop"},
		{"stop too early", func(t *testing.T, e events) events {
			e[0].Payload = trace.Stop{Outcome: trace.OutcomeCompleted}
			return e
		}, "follows the stop"},
		{"stop of no outcome", change(trace.KindStop, func(e *trace.Event) { e.Payload = trace.Stop{} }), "outcome"},
		{"failed without a word", change(trace.KindStop, func(e *trace.Event) { e.Payload = trace.Stop{Outcome: trace.OutcomeFailed} }), "does not say why"},
		{"cached tokens beside the input", change(trace.KindReply, func(e *trace.Event) {
			e.Payload = trace.Usage{InputTokens: 10, CacheReadTokens: 8, CacheWriteTokens: 3}
		}), "more than the input"},
		{"reasoning beside the output", change(trace.KindReply, func(e *trace.Event) { e.Payload = trace.Usage{OutputTokens: 1, ReasoningTokens: 2} }), "more than the output"},
		{"no payload", change(trace.KindReply, func(e *trace.Event) { e.Payload = nil }), "no payload"},
		{"no id", change(trace.KindReply, func(e *trace.Event) { e.ID = "" }), "no id"},
		{"an id twice", func(_ *testing.T, e events) events { e[1].ID = e[0].ID; return e }, "used before"},
		{"unknown parent", change(trace.KindReply, func(e *trace.Event) { e.Parent = "x" }), "parent x"},
		{"no actor", change(trace.KindReply, func(e *trace.Event) { e.Actor = "" }), "no actor"},
		{"unknown sub-agent", change(trace.KindThought, func(e *trace.Event) { e.Actor = trace.Subagent("x") }), "unknown call"},
		{"late prompt", twice(trace.KindPrompt), "comes first"},
		{"reply in a step", func(t *testing.T, e events) events {
			return slices.Insert(e, at(t, e, trace.KindStep, 0)+1, trace.Event{ID: "x", Actor: trace.Gateway, Payload: trace.Reply{}})
		}, "inside a step"},
		{"no step", drop(trace.KindStep, 0), "no step"},
		{"step never ended", drop(trace.KindStep, 1), "open already"},
		{"last step never ended", drop(trace.KindStep, 5), "step is open"},
		{"no start of a text", drop(trace.KindMessageStart, 0), "not open"},
		{"start twice", twice(trace.KindMessageStart), "used before"},
		{"a delta is lost", drop(trace.KindMessageDelta, 1), "its deltas were"},
		{"a delta too many", twice(trace.KindMessageDelta), "its deltas were"},
		{"an empty delta", change(trace.KindThoughtDelta, func(e *trace.Event) { e.Payload = trace.ThoughtDelta{Part: "thought-1"} }), "empty"},
		{"half a rune", change(trace.KindThoughtDelta, func(e *trace.Event) { e.Payload = trace.ThoughtDelta{Part: "thought-1", Delta: "\xf0"} }), "not UTF-8"},
		{"no whole text", drop(trace.KindMessage, 0), "open"},
		{"no whole thought", drop(trace.KindThought, 0), "open"},
		{"whole twice", twice(trace.KindMessage), "has ended"},
		{"no whole of a sub-agent", drop(trace.KindMessage, 1), "is open"},
		{"call started twice", twice(trace.KindToolCallStart), "used before"},
		{"delta without a start", drop(trace.KindToolCallStart, 0), "not being written"},
		{"call twice", twice(trace.KindToolCall), "complete already"},
		{"no whole call", drop(trace.KindToolCall, 0), "parent"},
		{"call without a name", change(trace.KindToolCall, func(e *trace.Event) { e.Payload = trace.ToolCall{ToolCallID: "c", Input: json.RawMessage("1")} }), "lacks"},
		{"input is not JSON", change(trace.KindToolCall, func(e *trace.Event) {
			e.Payload = trace.ToolCall{ToolCallID: "c", RawName: "a", Name: "a", ToolKind: trace.ToolOther, Input: json.RawMessage("{")}
		}), "not JSON"},
		{"no result", drop(trace.KindToolResult, 0), "no result"},
		{"result twice", twice(trace.KindToolResult), "has its result"},
		{"result of no status", change(trace.KindToolResult, func(e *trace.Event) {
			e.Payload = trace.ToolResult{ToolCallID: "c", Output: json.RawMessage("1")}
		}), "status"},
		{"failure without a word", change(trace.KindToolResult, func(e *trace.Event) {
			e.Payload = trace.ToolResult{ToolCallID: "c", Status: trace.ToolFailed, Output: json.RawMessage("1")}
		}), "does not say why"},
		{"result with another parent", change(trace.KindToolResult, func(e *trace.Event) { e.Parent = "turn.1" }), "not its call"},
		{"no request", drop(trace.KindPermissionRequest, 0), "is no open request"},
		{"request twice", twice(trace.KindPermissionRequest), "used before"},
		{"no response", drop(trace.KindPermissionResponse, 0), "no answer"},
		{"response twice", twice(trace.KindPermissionResponse), "has its answer"},
		{"no question", drop(trace.KindQuestion, 0), "is no open request"},
		{"no answer", drop(trace.KindAnswer, 0), "no answer"},
		{"answer of another question", change(trace.KindAnswer, func(e *trace.Event) { e.Payload = trace.Answer{QuestionID: "p"} }), "not asked"},
		{"paused on nothing", change(trace.KindPause, func(e *trace.Event) { e.Payload = trace.Pause{Requests: []string{"x"}} }), "is no open request"},
		{"data without a name", change(trace.KindData, func(e *trace.Event) { e.Payload = trace.Data{Value: json.RawMessage("1")} }), "no name"},
		{"data is not JSON", change(trace.KindData, func(e *trace.Event) { e.Payload = trace.Data{Name: "d"} }), "not JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := agenttest.CheckTurn(c.breaks(t, goodTurn(t)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// The Builder writes well-formed turns, whatever the agent does.
func TestBuilderIsWellFormed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := agenttest.NewRecorder()
		agent := wild{b: r.Builder, made: map[string]bool{}}
		for range rapid.IntRange(0, 40).Draw(t, "n") {
			agent.act(t)
		}
		outcome := rapid.SampledFrom([]trace.Outcome{trace.OutcomeCompleted, trace.OutcomeFailed, trace.OutcomeCanceled}).Draw(t, "outcome")
		if err := r.Finish(trace.Stop{Reason: "x", Outcome: outcome, Error: "x"}); err != nil {
			t.Fatal(err)
		}
		if err := agenttest.CheckTurn(r.Events()); err != nil {
			for _, e := range r.Events() {
				t.Logf("%s %s %s %+v", e.ID, e.Actor, e.Payload.Kind(), e.Payload)
			}
			t.Fatal(err)
		}
	})
}

// wild is an agent that does anything in any order.
type wild struct {
	b    *trace.Builder
	made map[string]bool // calls, which alone may have sub-agents
}

func (w wild) act(t *rapid.T) {
	id := func(what string) string { return rapid.SampledFrom([]string{"a", "b"}).Draw(t, what) }
	text := func(what string) string {
		return rapid.SampledFrom([]string{"", "x", "xy", "\xf0\x9f", "\x98\x80", "\xed\xa0\xbd", "\xed\xb8\x80", `{"k":`, `1}`}).Draw(t, what)
	}
	raw := func(what string) json.RawMessage { return json.RawMessage(text(what)) }
	status := func() trace.ToolStatus {
		return rapid.SampledFrom([]trace.ToolStatus{trace.ToolCompleted, trace.ToolFailed}).Draw(t, "status")
	}
	call, b := id("call"), w.b
	if w.made[call] && rapid.Bool().Draw(t, "sub-agent") {
		b = w.b.Under(call)
	}
	actions := []func(){
		func() { b.MessageDelta(id("key"), text("delta")) },
		func() { b.MessageSnapshot(id("key"), text("text")) },
		func() { b.Message(id("key"), text("text")) },
		func() { b.MessageEnd(id("key")) },
		func() { b.MessageRepeats(id("key"), id("earlier")) },
		func() { b.ThoughtDelta(id("key"), text("delta")) },
		func() { b.ThoughtEnd(id("key"), "") },
		func() { w.made[call] = true; w.b.ToolCallStart(trace.ToolCallStart{ToolCallID: call, RawName: "n"}) },
		func() { b.ToolCallDelta(call, text("delta")) },
		func() { w.made[call] = true; w.b.ToolCall(trace.ToolCall{ToolCallID: call, Input: raw("input")}) },
		func() { b.ToolResultProgress(call, raw("output")) },
		func() {
			w.made[call] = true
			w.b.ToolResult(trace.ToolResult{ToolCallID: call, Status: status(), Output: raw("output")})
		},
		func() {
			w.made[call] = true
			w.b.PermissionRequest(trace.PermissionRequest{RequestID: id("request"), ToolCallID: call}, trace.ToolCall{})
		},
		func() { b.PermissionResponse(trace.PermissionResponse{RequestID: id("request"), By: "x"}) },
		func() { b.Question(trace.Question{QuestionID: id("question")}) },
		func() { b.Answer(trace.Answer{QuestionID: id("question"), Outcome: trace.Selected}) },
		func() { b.StepStart(trace.Step{}) },
		func() { b.StepEnd() },
		func() {
			b.Emit(trace.Data{Name: "d", Value: raw("value"), Transient: rapid.Bool().Draw(t, "transient")})
		},
		func() { b.Emit(trace.Source{SourceID: "s"}) },
		func() { b.Emit(trace.Reply{MessageID: "m", Cause: trace.CauseSteer}) },
	}
	actions[rapid.IntRange(0, len(actions)-1).Draw(t, "action")]()
}
