package agenttest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

func oneTurn(t *testing.T, s Suite) {
	st := newTestSession(t, s, NewHost())
	if said := Said(st.play(t, s.Prompts[Text])); strings.TrimSpace(said) == "" {
		t.Errorf("the agent sent no text")
	}
}

func twoTurns(t *testing.T, s Suite) {
	st := newTestSession(t, s, NewHost())
	st.play(t, s.Prompts[Text])
	st.play(t, s.Prompts[Text])
}

func unicodePrompt(t *testing.T, s Suite) {
	const odd = " \U0001F468\u200d\U0001F469\u200d\U0001F467 e\u0301 \u05e9\u05dc\u05d5\u05dd \u2028 \"\\\" <b> \U0001F600"
	st := newTestSession(t, s, NewHost())
	if said := Said(st.play(t, s.Prompts[Text]+odd)); strings.Contains(said, "\uFFFD") {
		t.Errorf("a character was broken: %q", said)
	}
}

func furtherTurns(t *testing.T, s Suite) {
	host := NewHost()
	host.OnPermit, host.OnAsk = Choose(trace.AllowOnce), firstChoice
	st := newTestSession(t, s, host)
	for _, prompt := range s.Turns {
		events, err := st.end(t, st.start(t.Context(), prompt))
		if err != nil {
			t.Errorf("Prompt(%q): %v", prompt, err)
		}
		if stop := stopOf(events); stop.Outcome == trace.OutcomeCanceled {
			t.Errorf("Prompt(%q) ended as canceled, but no one stopped it", prompt)
		}
	}
}

func canceledBefore(t *testing.T, s Suite) {
	st := newTestSession(t, s, NewHost())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	st.stopped(t, st.start(ctx, s.Prompts[Text]), s.Prompts[Text])
}

func closeTwice(t *testing.T, s Suite) {
	st := newTestSession(t, s, NewHost())
	st.play(t, s.Prompts[Text])
	st.close(t) // and again with the test
}

func promptAfterClose(t *testing.T, s Suite) {
	st := newTestSession(t, s, NewHost())
	st.close(t)
	if _, err := st.end(t, st.start(t.Context(), s.Prompts[Text])); err == nil {
		t.Errorf("Prompt of a closed session returned no error")
	}
}

func cancelTurn(t *testing.T, s Suite) {
	st := newTestSession(t, s, NewHost())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := st.start(ctx, s.Prompts[Slow])
	st.speaking(t, r)
	cancel()
	st.stopped(t, r, s.Prompts[Slow])
}

// patience is less than what a session has before it ends an agent's process.
const patience = 4 * time.Second

// stopAtOnce stops as a session does: the stop is on record first, and only then
// the agent learns of it. The agent must end the turn soon, and be ready for the
// next prompt.
func stopAtOnce(t *testing.T, s Suite) {
	st := newTestSession(t, s, NewHost())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := st.start(ctx, s.Prompts[Slow])
	st.speaking(t, r)
	if err := r.Finish(trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled}); err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case <-r.done:
	case <-time.After(patience):
		t.Fatalf("Prompt of a turn that was finished and then canceled did not return within %s\n%s", patience, r.at.stack())
	}
	if r.err != nil && !errors.Is(r.err, context.Canceled) {
		t.Errorf("Prompt of a turn that was finished and then canceled: %v", r.err)
	}
	if err := CheckTurn(r.Events()); err != nil {
		t.Errorf("turn %s is not well formed: %v", r.Turn(), err)
	}
	st.play(t, s.Prompts[Text])
}

func closeDuringPrompt(t *testing.T, s Suite) {
	st := newTestSession(t, s, NewHost())
	r := st.start(t.Context(), s.Prompts[Slow])
	st.speaking(t, r)
	st.within(t, "Close", func() {
		if err := st.session.Close(); err != nil {
			t.Errorf("Close during a turn: %v", err)
		}
	})
	events, _ := st.end(t, r)
	if stop := stopOf(events); stop.Outcome == trace.OutcomeCompleted {
		t.Errorf("the turn ended as completed though its session was closed")
	}
}

// speaking waits until a turn has streamed something.
func (st *testSession) speaking(t *testing.T, r *run) {
	t.Helper()
	st.waitForText(t, r, "anything", func(e trace.Event) bool {
		switch e.Payload.(type) {
		case trace.MessageDelta, trace.ThoughtDelta:
			return true
		}
		return false
	})
}

func (st *testSession) waitForText(t *testing.T, r *run, what string, match func(trace.Event) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), st.Bound)
	defer cancel()
	if _, err := r.Await(ctx, match); err != nil {
		t.Fatalf("the agent did not emit %s within %s\n%s\n%s", what, st.Bound, st.happened(), r.at.stack())
	}
}

// stopped checks the end of a turn that was canceled, and that the conversation
// goes on: in the same session, or in one reopened by its token.
func (st *testSession) stopped(t *testing.T, r *run, prompt string) {
	t.Helper()
	events, err := st.end(t, r)
	if stop := stopOf(events); err == nil && stop.Outcome != trace.OutcomeCanceled {
		t.Errorf("Prompt(%q) was canceled and ended as %s: %s", prompt, stop.Outcome, stop.Error)
	}
	if _, err := st.end(t, st.start(t.Context(), st.Prompts[Text])); err != nil {
		st.close(t)
		st.open(t, st.host.Token())
		st.play(t, st.Prompts[Text])
	}
}
