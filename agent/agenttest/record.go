package agenttest

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/testkit/replay"
	"github.com/tributary-dev/tributary/trace"
)

// A recording of a live turn holds the answers that the agent got. A Decoder that plays
// the recording puts the same answers on record as the live session did.

func recordedPermission(t *testing.T, s Suite) {
	for _, kind := range []trace.OptionKind{trace.AllowOnce, trace.RejectOnce} {
		host := NewHost()
		host.OnPermit = Choose(kind)
		s.recorded(t, host, s.Prompts[Permission])
	}
}

func recordedQuestion(t *testing.T, s Suite) {
	host := NewHost()
	host.OnAsk = lastChoice
	s.recorded(t, host, s.Prompts[Question])
}

// recorded plays a turn, and then a recording of its messages.
func (s Suite) recorded(t *testing.T, host *Host, prompt string) {
	t.Helper()
	if s.Decoder == nil {
		t.Skip("not tested: the suite has no Decoder")
	}
	var recording bytes.Buffer
	st := newTapped(t, s, host, func(m agent.Message) {
		line, err := json.Marshal(map[string]any{"dir": m.Dir, "channel": m.Channel, "msg": m.Data})
		if err == nil { // what is no JSON is no message
			recording.Write(append(line, '\n'))
		}
	})
	live, err := st.end(t, st.start(t.Context(), prompt))
	if err != nil {
		t.Errorf("Prompt: %v", err)
	}
	st.close(t)
	var again []trace.Event
	if _, err := replay.Run(t.Context(), s.Decoder(), &recording, func(r trace.Record) error {
		again = append(again, r.Event)
		return nil
	}); err != nil {
		t.Fatalf("the recording of the turn: %v", err)
	}
	if got, want := outline(again), outline(live); !slices.Equal(got, want) {
		t.Errorf("a recording of the turn gives %q, on record is %q", got, want)
	}
}

// outline is what a turn and its recording have in common: what was said, the answers,
// and the ends of the calls.
func outline(events []trace.Event) []string {
	all := []string{Said(events)}
	for _, e := range events {
		switch p := e.Payload.(type) {
		case trace.PermissionResponse:
			verdict := "denied"
			if p.Allowed() {
				verdict = "allowed"
			}
			all = append(all, "permission "+string(p.Outcome)+" "+verdict)
		case trace.Answer:
			all = append(append(all, "answer "+string(p.Outcome)), p.Values...)
		case trace.ToolResult:
			all = append(all, "call "+string(p.Status))
		}
	}
	return all
}
