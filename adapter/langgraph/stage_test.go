package langgraph_test

import (
	"context"
	"encoding/json"
	"flag"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/adapter/langgraph"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// TestMain lets many tests run at a time: the turns on real servers mostly wait.
func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "8") // a flag on the command line has the last word
	goleak.VerifyTestMain(m)
}

// limit bounds every turn.
const limit = 30 * time.Second

// nobody is an address where no server listens. The port of a closed server would not do: the next server of a test may get it.
const nobody = "http://127.0.0.1:1"

// stage is a session of the adapter, and the prompts of a test.
type stage struct {
	*testing.T
	host    *agenttest.Host
	session agent.Session
	rt      agent.Runtime
}

// newStage opens a session with an assistant.
func newStage(t *testing.T, url, assistant string, change ...func(*langgraph.Runtime)) *stage {
	t.Helper()
	rt := langgraph.Runtime{URL: url}
	rt.Assistant = assistant
	for _, c := range change {
		c(&rt)
	}
	s := &stage{T: t, host: agenttest.NewHost(), rt: rt}
	s.host.RequestSuffix = "-x"
	s.open(agent.Config{SessionID: "s"})
	return s
}

// open opens the session, or opens it again as after a restart.
func (s *stage) open(cfg agent.Config) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), limit)
	defer cancel()
	session, err := s.rt.Open(ctx, s.host, cfg)
	if err != nil {
		s.Fatal(err)
	}
	s.session = session
	s.Cleanup(func() { _ = session.Close() })
}

func promptOf(text string) agent.Prompt {
	return agent.Prompt{By: "ann", Caller: agent.Caller{Bearer: "anns-token"}, Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}}}
}

// begin begins a turn.
func (s *stage) begin(ctx context.Context, text string) (*agenttest.Recorder, chan error) {
	p := promptOf(text)
	r, done := s.host.Turn(p), make(chan error, 1)
	session := s.session
	go func() { done <- session.Prompt(ctx, p, r.Builder) }()
	return r, done
}

// end waits for the end of a turn and returns its records.
func (s *stage) end(r *agenttest.Recorder, done chan error) []trace.Event {
	s.Helper()
	select {
	case err := <-done:
		stop, ok := r.Result()
		if err != nil {
			stop = trace.Stop{Outcome: trace.OutcomeFailed, Error: err.Error()}
		} else if !ok {
			s.Error("the turn has no end")
		}
		if err := r.Finish(stop); err != nil {
			s.Error(err)
		}
	case <-time.After(limit):
		s.Fatalf("the turn does not end: %v", r.Events())
	}
	if err := agenttest.CheckTurn(r.Events()); err != nil {
		s.Error(err)
	}
	return r.Events()
}

// says plays a prompt and returns what the turn says.
func (s *stage) says(text string) []string {
	s.Helper()
	return lines(s.end(s.begin(s.Context(), text)))
}

func lines(events []trace.Event) []string {
	records := make([]trace.Record, len(events))
	for i, e := range events {
		records[i] = trace.Record{Event: e}
	}
	return outline(records)
}

// speaking waits until the agent has said some words.
func (s *stage) speaking(r *agenttest.Recorder) {
	s.Helper()
	s.await(r, func(e trace.Event) bool { return e.Payload.Kind() == trace.KindMessageDelta })
}

func (s *stage) await(r *agenttest.Recorder, what func(trace.Event) bool) trace.Event {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), limit)
	defer cancel()
	e, err := r.Await(ctx, what)
	if err != nil {
		s.Fatal(err)
	}
	return e
}

// approve answers a permission request.
func approve(kind trace.OptionKind, input string) func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
	return func(_ context.Context, r trace.PermissionRequest) trace.PermissionResponse {
		answer := trace.PermissionResponse{Outcome: trace.Selected, OptionKind: kind, By: "ann", Reason: map[trace.OptionKind]string{trace.RejectOnce: "not now"}[kind]}
		for _, o := range r.Options {
			if o.OptionKind == kind {
				answer.ChosenOption = o.ID
			}
		}
		if input != "" {
			answer.UpdatedInput = json.RawMessage(input)
		}
		return answer
	}
}

func cancelable(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}

// waitForEver is a person who does not answer.
func waitForEver(ctx context.Context, _ trace.Question) trace.Answer {
	<-ctx.Done()
	return trace.Answer{Outcome: trace.Canceled}
}
