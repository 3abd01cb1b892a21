package agenttest

import (
	"context"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// die plays a turn in which the agent's process ends.
func die(t *testing.T, s Suite) { breaks(t, s, s.Prompts[Die]) }

// halfMessage is die in the middle of a message.
func halfMessage(t *testing.T, s Suite) { breaks(t, s, s.Prompts[Half]) }

// breaks plays a turn that cannot end well. The turn ends as failed, and the next
// prompt finds an agent: in the same session, or in one reopened by its token.
func breaks(t *testing.T, s Suite, prompt string) {
	t.Helper()
	st := newTestSession(t, s, NewHost())
	events, err := st.end(t, st.start(t.Context(), prompt))
	switch stop := stopOf(events); {
	case stop.Outcome != trace.OutcomeFailed:
		t.Errorf("the agent's process died, and its turn ended as %s", stop.Outcome)
	case err == nil && stop.Error == "":
		t.Error("the agent's process died, and the turn does not say so in a sentence")
	}
	st.stillWorks(t)
}

// stillWorks checks that the agent answers the next prompt.
func (st *testSession) stillWorks(t *testing.T) {
	t.Helper()
	if _, err := st.end(t, st.start(t.Context(), st.Prompts[Text])); err != nil {
		st.close(t)
		st.open(t, st.host.Token())
		st.play(t, st.Prompts[Text])
	}
}

// garbage plays a turn in which lines come that are no messages.
func garbage(t *testing.T, s Suite) {
	st := newTestSession(t, s, NewHost())
	if said := Said(st.play(t, s.Prompts[Garbage])); strings.TrimSpace(said) == "" {
		t.Error("beside lines that are no messages, nothing of what the agent said is on record")
	}
	st.play(t, s.Prompts[Text])
}

// hugeMessage plays a turn with a message that is larger than any event may be. How
// the turn ends is the adapter's affair; that it ends, and the agent goes on, is not.
func hugeMessage(t *testing.T, s Suite) {
	if testing.Short() {
		t.Skip("it takes many megabytes")
	}
	st := newTestSession(t, s, NewHost())
	events, _ := st.end(t, st.start(t.Context(), s.Prompts[Huge]))
	if stop := stopOf(events); stop.Outcome == trace.OutcomeCanceled {
		t.Error("a turn with a huge message (see HugeText) ended as canceled, but no one stopped it")
	}
	st.stillWorks(t)
}

// steer sends a message into a running turn.
func steer(t *testing.T, s Suite) {
	st := newTestSession(t, s, NewHost())
	controlled, ok := st.session.(agent.Controllable)
	if !ok || controlled.Controls().Steer == nil {
		t.Fatal("the suite has a prompt for steer, and the session cannot be steered")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := st.start(ctx, s.Prompts[Slow])
	st.speaking(t, r)
	p := Prompt(s.Prompts[Steer])
	p.Message.ID = "user-2"
	st.within(t, "Steer", func() {
		if err := controlled.Controls().Steer(ctx, p); err != nil {
			t.Errorf("Steer: %v", err)
		}
	})
	var said strings.Builder
	st.waitForText(t, r, "the word "+s.Word+" after Steer", func(e trace.Event) bool {
		switch p := e.Payload.(type) {
		case trace.Prompt: // the turn is looked at from its start
			said.Reset()
		case trace.MessageDelta:
			said.WriteString(p.Delta)
		case trace.Message:
			return strings.Contains(p.Text, s.Word)
		}
		return strings.Contains(said.String(), s.Word)
	})
	cancel()
	_, _ = st.end(t, r) // it may have ended by itself
}
