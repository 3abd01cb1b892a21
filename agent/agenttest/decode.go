package agenttest

import (
	"encoding/json"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// OneTurn gives a Decoder one turn.
func OneTurn(b *trace.Builder) agent.Turns { return only{b} }

type only struct{ b *trace.Builder }

func (t only) Prompted(trace.Prompt) *trace.Builder { return t.b }
func (t only) Begin(agent.TurnInfo) *trace.Builder  { return t.b }
func (t only) Current() *trace.Builder              { return t.b }
func (t only) Note(trace.Payload)                   {}

// Allowed finishes a turn in which permission was asked for a call, and reports whether
// the policy allowed the call. The record must show the call as it was asked for.
func Allowed(t testing.TB, r *Recorder, tool string, input json.RawMessage) bool {
	t.Helper()
	if err := r.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
		t.Fatal(err)
	}
	calls := Each[trace.ToolCall](r.Events())
	if last := calls[len(calls)-1]; last.RawName != tool || !SameJSON(last.Input, input) {
		t.Errorf("asked was %s %s, on record is %s %s", tool, input, last.RawName, last.Input)
	}
	answers := Each[trace.PermissionResponse](r.Events())
	return len(answers) > 0 && answers[0].Allowed()
}

// SameJSON compares but for space.
func SameJSON(a, b json.RawMessage) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
