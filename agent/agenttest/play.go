package agenttest

import (
	"context"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Prompt is a prompt with a text and perhaps files.
func Prompt(text string, files ...trace.InputPart) agent.Prompt {
	parts := append([]trace.InputPart{{Type: trace.InputText, Text: text}}, files...)
	return agent.Prompt{By: "tester", Message: trace.UserMessage{ID: "user-1", Parts: parts}}
}

// Open opens a session, which is closed with the test. An empty Cwd becomes a new
// directory.
func Open(t testing.TB, r agent.Runtime, host agent.Host, cfg agent.Config) agent.Session {
	t.Helper()
	if cfg.Cwd == "" {
		cfg.Cwd = t.TempDir()
	}
	s, err := r.Open(t.Context(), host, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Turn plays a turn to its end and checks its grammar. It returns the events and the end.
func Turn(t testing.TB, s agent.Session, host *Host, p agent.Prompt) ([]trace.Event, trace.Stop) {
	t.Helper()
	return TurnWhile(t, s, host, p, func(func(), *Recorder) {})
}

// TurnWhile is Turn while the test does something, such as to stop the turn.
func TurnWhile(t testing.TB, s agent.Session, host *Host, p agent.Prompt, do func(stop func(), r *Recorder)) ([]trace.Event, trace.Stop) {
	t.Helper()
	const bound = time.Minute
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, done := host.Turn(p), make(chan error, 1)
	go func() { done <- s.Prompt(ctx, p, r.Builder) }()
	do(stop, r)
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(bound):
		t.Fatalf("the turn does not end\n%s", brief(r.Events()...))
	}
	verdict, told := r.Result()
	if !told {
		t.Fatal("Prompt returned and the turn has no end")
	}
	if err := r.Finish(verdict); err != nil {
		t.Fatal(err)
	}
	events := r.Events()
	if err := CheckTurn(events); err != nil {
		t.Errorf("the turn is not well formed: %v", err)
	}
	return events, stopOf(events)
}

// Refusal gives a session a prompt that it is not to take, and returns the error of Prompt.
func Refusal(t testing.TB, s agent.Session, host *Host, p agent.Prompt) error {
	t.Helper()
	r := host.Turn(p)
	refused := s.Prompt(t.Context(), p, r.Builder)
	if err := r.Detach(); err != nil {
		t.Error(err)
	}
	return refused
}

// Until waits for an event.
func Until[P trace.Payload](t testing.TB, r *Recorder) P {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	e, err := r.Await(ctx, func(e trace.Event) bool { _, ok := e.Payload.(P); return ok })
	if err != nil {
		t.Fatalf("%v\n%s", err, brief(r.Events()...))
	}
	p, _ := e.Payload.(P)
	return p
}
