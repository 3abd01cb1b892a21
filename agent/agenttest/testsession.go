package agenttest

import (
	"context"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

// testSession is a session under test.
type testSession struct {
	Suite
	runtime agent.Runtime
	host    *Host
	session agent.Session
	late    map[*Recorder]int   // of each finished turn
	tap     func(agent.Message) // of the sessions that are opened; nil is none
}

// newTestSession opens a session and closes it with the test.
func newTestSession(t *testing.T, s Suite, host *Host) *testSession {
	t.Helper()
	return newTapped(t, s, host, nil)
}

func newTapped(t *testing.T, s Suite, host *Host, tap func(agent.Message)) *testSession {
	t.Helper()
	host.RequestSuffix = "-tested"
	host.StateDir = t.TempDir()
	st := &testSession{Suite: s, runtime: s.Open(t), host: host, late: map[*Recorder]int{}, tap: tap}
	st.open(t, "")
	t.Cleanup(func() { st.close(t) })
	return st
}

func (st *testSession) open(t *testing.T, token string) {
	t.Helper()
	cfg := agent.Config{SessionID: "session"}
	if st.Config != nil {
		cfg = st.Config(t)
	}
	if cfg.Cwd == "" {
		cfg.Cwd = t.TempDir()
	}
	cfg.Resume, cfg.Tap = token, st.tap
	st.workspace(t, cfg.Cwd)
	ctx, cancel := context.WithTimeout(t.Context(), st.Bound)
	defer cancel()
	session, err := st.runtime.Open(ctx, st.host, cfg)
	if err != nil {
		t.Fatalf("Open with resume token %q: %v", token, err)
	}
	st.session = session
}

// workspace opens the directory that the agent may read and write.
func (st *testSession) workspace(t *testing.T, cwd string) {
	t.Helper()
	dir, err := workspace.Open(cwd)
	if err != nil {
		t.Fatal(err)
	}
	st.host.Dir = dir
	t.Cleanup(func() { _ = dir.Close() })
}

// close closes the session and checks what may only be known then.
func (st *testSession) close(t *testing.T) {
	t.Helper()
	st.within(t, "Close", func() {
		if err := st.session.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	for _, r := range st.host.Begun() {
		if _, seen := st.late[r]; !seen {
			st.finish(t, r, nil)
		}
	}
	for r, late := range st.late {
		if n := r.Counts().Late - late; n != 0 {
			t.Errorf("turn %s got %d more events after Prompt had returned", r.Turn(), n)
		}
	}
}

// within fails the test when something takes longer than the bound. A function that
// hangs keeps its goroutine, because nothing can end it.
func (st *testSession) within(t *testing.T, what string, do func()) {
	t.Helper()
	w := watch()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.enter()
		do()
	}()
	st.await(t, what, done, w)
}

func (st *testSession) await(t *testing.T, what string, done <-chan struct{}, w *watched) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), st.Bound)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
		if what == "Prompt" {
			st.hung.Store(true)
		}
		t.Fatalf("%s did not return within %s\n%s\n%s", what, st.Bound, st.happened(), w.stack())
	}
}

// run is a turn under way.
type run struct {
	*Recorder
	done chan struct{}
	err  error // of Prompt, once done
	at   *watched
}

// start prompts without waiting for the end.
func (st *testSession) start(ctx context.Context, text string) *run {
	p := Prompt(text)
	r := &run{Recorder: st.host.Turn(p), done: make(chan struct{}), at: watch()}
	go func() {
		defer close(r.done)
		r.at.enter()
		r.err = st.session.Prompt(ctx, p, r.Builder)
	}()
	return r
}

// end waits for a turn, finishes it as a session would, and checks it. It
// returns the events and the error of Prompt.
func (st *testSession) end(t *testing.T, r *run) ([]trace.Event, error) {
	t.Helper()
	st.await(t, "Prompt", r.done, r.at)
	if _, told := r.Result(); !told && r.err == nil {
		t.Errorf("Prompt returned nil and never called End")
	}
	return st.finish(t, r.Recorder, r.err), r.err
}

func (st *testSession) finish(t *testing.T, r *Recorder, err error) []trace.Event {
	t.Helper()
	verdict, told := r.Result()
	if !told {
		verdict = trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Error: "the agent did not say how the turn ended"}
		if err != nil {
			verdict.Error = err.Error()
		}
	}
	st.late[r] = r.Counts().Late
	if err := r.Finish(verdict); err != nil {
		t.Errorf("Finish: %v", err)
	}
	events := r.Events()
	if err := CheckTurn(events); err != nil {
		t.Errorf("turn %s is not well formed: %v", r.Turn(), err)
	}
	return events
}

// play runs one turn that must end as completed.
func (st *testSession) play(t *testing.T, text string) []trace.Event {
	t.Helper()
	events, err := st.end(t, st.start(t.Context(), text))
	if err != nil {
		t.Fatalf("Prompt(%q): %v", text, err)
	}
	if stop := stopOf(events); stop.Outcome != trace.OutcomeCompleted {
		t.Fatalf("Prompt(%q) ended as %s: %s", text, stop.Outcome, stop.Error)
	}
	return events
}

func stopOf(events []trace.Event) trace.Stop {
	for _, s := range Each[trace.Stop](events) {
		return s
	}
	return trace.Stop{}
}

// Each returns the payloads of one type.
func Each[P trace.Payload](events []trace.Event) []P {
	var found []P
	for _, e := range events {
		if p, ok := e.Payload.(P); ok {
			found = append(found, p)
		}
	}
	return found
}

// Said returns the agent's text, without that of sub-agents.
func Said(events []trace.Event) string {
	var text strings.Builder
	for _, e := range events {
		if m, ok := e.Payload.(trace.Message); ok && e.Actor == trace.Agent && !m.Superseded {
			text.WriteString(m.Text)
			text.WriteByte('\n')
		}
	}
	return text.String()
}
