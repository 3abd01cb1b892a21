package trace

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// A turn cut off after any number of events can be taken up and finished, and
// what stands then is one well-formed turn.
//
//evidence:for promise-crash
func TestReopenFinishesATurnCutAnywhere(t *testing.T) {
	t.Parallel()
	var whole []Event
	b := NewBuilder(t.Context(), Config{Turn: "t", Append: collect(&whole)})
	b.Emit(Prompt{Message: UserMessage{ID: "u"}})
	b.Emit(Reply{MessageID: "m", Cause: CausePrompt})
	b.ThoughtDelta("a", "hm")
	b.Thought("a", "hmm", "sig")
	b.MessageDelta("b", "I will ")
	b.MessageDelta("b", "look.")
	b.MessageEnd("b")
	b.ToolCallStart(ToolCallStart{ToolCallID: "c", RawName: "Read"})
	b.ToolCallDelta("c", `{"path":`)
	b.ToolCallDelta("c", `"x"}`)
	b.ToolCall(ToolCall{ToolCallID: "c", RawName: "Read", Input: json.RawMessage(`{"path":"x"}`)})
	b.PermissionRequest(PermissionRequest{RequestID: "p", ToolCallID: "c"}, ToolCall{})
	b.Under("c").MessageDelta("s", "sub")
	b.StepStart(Step{NativeID: "theirs"})
	b.MessageDelta("d", "after")
	if err := b.Finish(Stop{Reason: "end_turn", Outcome: OutcomeCompleted}); err != nil {
		t.Fatal(err)
	}
	for cut := range whole {
		var records []Record
		for _, e := range whole[:cut] {
			records = append(records, Record{Session: "s", Turn: "t", Event: e})
		}
		events := append([]Event(nil), whole[:cut]...)
		if err := Restore(t.Context(), Config{Turn: "t", Append: collect(&events)}, records).Finish(Stop{Reason: "restart", Outcome: OutcomeFailed}); err != nil {
			t.Fatal(err)
		}
		checkClosed(t, cut, events)
	}
}

func collect(into *[]Event) func(context.Context, []Event) error {
	return func(_ context.Context, events []Event) error {
		*into = append(*into, events...)
		return nil
	}
}

// checkClosed checks what Finish promises: everything that began has ended, ids
// are unique, deltas sum to their whole, and the stop is last.
func checkClosed(t *testing.T, cut int, events []Event) {
	t.Helper()
	ids, open, text, calls, asks, steps := map[string]bool{}, map[string]bool{}, map[string]string{}, map[string]bool{}, map[string]bool{}, 0
	for i, e := range events {
		if ids[e.ID] {
			t.Errorf("cut %d: id %s twice", cut, e.ID)
		}
		ids[e.ID] = true
		switch p := e.Payload.(type) {
		case MessageStart:
			open[p.Part] = true
		case ThoughtStart:
			open[p.Part] = true
		case MessageDelta:
			text[p.Part] += p.Delta
		case Message:
			delete(open, p.Part)
			if p.Text != text[p.Part] {
				t.Errorf("cut %d: whole %q, deltas %q", cut, p.Text, text[p.Part])
			}
		case Thought:
			delete(open, p.Part)
		case ToolCallStart:
			calls[p.ToolCallID] = true
		case ToolCall:
			calls[p.ToolCallID] = true
		case ToolResult:
			delete(calls, p.ToolCallID)
		case PermissionRequest:
			asks[p.RequestID] = true
		case PermissionResponse:
			delete(asks, p.RequestID)
		case Step:
			if p.Phase == PhaseStart {
				steps++
			} else {
				steps--
			}
		case Stop:
			if i != len(events)-1 {
				t.Errorf("cut %d: stop at %d of %d", cut, i, len(events))
			}
		default:
		}
	}
	if len(open)+len(calls)+len(asks)+steps != 0 {
		t.Errorf("cut %d: left open: parts %v, calls %v, asks %v, steps %d", cut, open, calls, asks, steps)
	}
	if _, ok := events[len(events)-1].Payload.(Stop); !ok {
		t.Errorf("cut %d: no stop", cut)
	}
}

// A turn that is taken up again goes on with a part that had been cut.
func TestAReopenedPartThatIsFullTakesNoMore(t *testing.T) {
	var log []Record
	cfg := Config{Turn: "t", MaxEvent: 100, Append: func(_ context.Context, events []Event) error {
		for _, e := range events {
			log = append(log, Record{Turn: "t", Seq: uint64(len(log) + 1), Event: e})
		}
		return nil
	}}
	b := NewBuilder(t.Context(), cfg)
	b.MessageDelta("p", strings.Repeat("x", 150))
	if err := b.Detach(); err != nil {
		t.Fatal(err)
	}
	again := Restore(t.Context(), cfg, log)
	again.MessageDelta("text-1", "more")
	if err := again.Finish(Stop{Reason: "end_turn", Outcome: OutcomeCompleted}); err != nil {
		t.Fatal(err)
	}
}

// What a call has printed before a restart is in its result, if the result has no output of its own.
func TestAReopenedCallKeepsWhatItHasPrinted(t *testing.T) {
	t.Parallel()
	var events []Event
	b := NewBuilder(t.Context(), Config{Turn: "t", Append: collect(&events)})
	b.ToolCall(ToolCall{ToolCallID: "c", RawName: "Bash", Input: json.RawMessage(`{}`)})
	b.ToolResultDelta("c", "one\n")
	if err := b.Detach(); err != nil {
		t.Fatal(err)
	}
	var records []Record
	for _, e := range events {
		records = append(records, Record{Session: "s", Turn: "t", Event: e})
	}
	b = Restore(t.Context(), Config{Turn: "t", Append: collect(&events)}, records)
	b.ToolResultDelta("c", "two\n")
	b.ToolResult(ToolResult{ToolCallID: "c", Status: ToolCompleted})
	if err := b.Finish(Stop{Reason: "end_turn", Outcome: OutcomeCompleted}); err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if r, is := e.Payload.(ToolResult); is {
			if string(r.Output) != `"one\ntwo\n"` {
				t.Errorf("the result is %s", r.Output)
			}
			return
		}
	}
	t.Error("there is no result")
}
