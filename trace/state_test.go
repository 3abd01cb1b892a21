package trace_test

import (
	"encoding/json"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// A call that comes again because its agent changed it keeps the state.
func TestACallThatIsChangedKeepsTheStateOfItsProvider(t *testing.T) {
	t.Parallel()
	b, log := newTurn()
	b.ToolCall(trace.ToolCall{ToolCallID: "a", RawName: "bash", Input: json.RawMessage(`{}`), ProviderState: json.RawMessage(`{ "s": 1 }`)})
	b.ToolCallUpdate(trace.ToolCall{ToolCallID: "a", Input: json.RawMessage(`{"command":"ls"}`)})
	b.End(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted})
	if err := b.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
	var calls []trace.ToolCall
	for _, e := range log.events {
		if c, is := e.Payload.(trace.ToolCall); is {
			calls = append(calls, c)
		}
	}
	if len(calls) != 2 || string(calls[1].Input) != `{"command":"ls"}` || string(calls[1].ProviderState) != `{"s":1}` {
		t.Errorf("on record are %+v", calls)
	}
}
