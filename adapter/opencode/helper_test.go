package opencode_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// prompt is a prompt with a text.
func prompt(text string) agent.Prompt {
	return agent.Prompt{By: "tester", Message: trace.UserMessage{ID: "m", Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}}}
}

// turn runs a turn to its end.
func turn(ctx context.Context, t *testing.T, s agent.Session, host *agenttest.Host, text string) ([]trace.Event, trace.Stop) {
	t.Helper()
	return turnWhile(ctx, t, s, host, text, func(context.CancelFunc, *agenttest.Recorder) {})
}

// turnWhile runs a turn to its end while the test does something.
func turnWhile(ctx context.Context, t *testing.T, s agent.Session, host *agenttest.Host, text string, do func(stop context.CancelFunc, r *agenttest.Recorder)) ([]trace.Event, trace.Stop) {
	t.Helper()
	return turnOf(ctx, t, s, host, prompt(text), do)
}

// turnOf runs the turn of any prompt.
func turnOf(ctx context.Context, t *testing.T, s agent.Session, host *agenttest.Host, p agent.Prompt, do func(stop context.CancelFunc, r *agenttest.Recorder)) ([]trace.Event, trace.Stop) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	stopped, stop := context.WithCancel(ctx)
	defer stop()
	r := host.Turn(p)
	done := make(chan error, 1)
	go func() { done <- s.Prompt(stopped, p, r.Builder) }()
	do(stop, r)
	verdict := trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed}
	select {
	case err := <-done:
		if err != nil {
			verdict.Error = err.Error()
		}
	case <-ctx.Done():
		t.Fatalf("the turn does not end; so far:\n%s", kinds(r.Events()))
	}
	if said, ok := r.Verdict(); ok {
		verdict = said
	}
	if err := r.Finish(verdict); err != nil {
		t.Fatal(err)
	}
	events := r.Events()
	if err := agenttest.CheckTurn(events); err != nil {
		t.Error(err)
	}
	return events, agenttest.Each[trace.Stop](events)[0]
}

// kinds lists the kinds of events, for a failed test.
func kinds(events []trace.Event) string {
	var all []string
	for _, e := range events {
		line, _ := trace.MarshalPayload(e.Payload)
		all = append(all, string(e.Payload.Kind())+" "+string(line))
	}
	return strings.Join(all, "\n")
}

// until waits for an event.
func until[P trace.Payload](t *testing.T, r *agenttest.Recorder) P {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	e, err := r.Await(ctx, func(e trace.Event) bool { _, ok := e.Payload.(P); return ok })
	if err != nil {
		t.Fatalf("%v; so far:\n%s", err, kinds(r.Events()))
	}
	p, _ := e.Payload.(P)
	return p
}

// choose answers each permission request with an option.
func choose(option string) func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
	return func(_ context.Context, r trace.PermissionRequest) trace.PermissionResponse {
		answer := trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: option, By: "tester"}
		for _, o := range r.Options {
			if o.ID == option {
				answer.OptionKind = o.OptionKind
			}
		}
		return answer
	}
}
