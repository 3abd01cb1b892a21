package agui_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/adapter/agui"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const limit = 30 * time.Second

// stage is a session with an endpoint, and the prompts of a test.
type stage struct {
	*testing.T
	host    *agenttest.Host
	session agent.Session
	prompts int
}

func newStage(t *testing.T, url string, change ...func(*agui.Runtime)) *stage {
	t.Helper()
	return tapped(t, url, nil, change...)
}

// tapped is on for a session whose messages go to a tap.
func tapped(t *testing.T, url string, tap func(agent.Message), change ...func(*agui.Runtime)) *stage {
	t.Helper()
	s := &stage{T: t, host: agenttest.NewHost()}
	s.host.RequestSuffix = "-x"
	rt := agui.Runtime{URL: url}
	for _, c := range change {
		c(&rt)
	}
	session, err := rt.Open(t.Context(), s.host, agent.Config{SessionID: "thread", Tap: tap})
	if err != nil {
		t.Fatal(err)
	}
	s.session = session
	t.Cleanup(func() { _ = session.Close() })
	return s
}

func (s *stage) begin(ctx context.Context, parts ...trace.InputPart) (*agenttest.Recorder, chan error) {
	s.prompts++
	p := agent.Prompt{By: "ann", Caller: agent.Caller{Bearer: "anns-token"}, Message: trace.UserMessage{ID: fmt.Sprint("u", s.prompts), Parts: parts}}
	r, done := s.host.Turn(p), make(chan error, 1)
	go func() { done <- s.session.Prompt(ctx, p, r.Builder) }()
	return r, done
}

func words(text string) trace.InputPart { return trace.InputPart{Type: trace.InputText, Text: text} }

// end waits for the end of a turn and returns its events.
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

// plays plays a prompt and returns the events of its turn.
func (s *stage) plays(text string) []trace.Event {
	s.Helper()
	return s.end(s.begin(s.Context(), words(text)))
}

// says plays a prompt and returns what the turn says.
func (s *stage) says(text string) []string {
	s.Helper()
	return outline(s.plays(text))
}

// abandons plays a prompt and stops its turn when a person is asked. From then on nobody
// answers approvals.
func (s *stage) abandons(text string) []string {
	s.Helper()
	s.host.OnPermit = func(ctx context.Context, _ trace.PermissionRequest) trace.PermissionResponse {
		<-ctx.Done()
		return trace.PermissionResponse{Outcome: trace.Canceled}
	}
	ctx, stop := context.WithCancel(s.Context())
	defer stop()
	r, done := s.begin(ctx, words(text))
	if _, err := r.Await(ctx, func(e trace.Event) bool { return e.Payload.Kind() == trace.KindPause }); err != nil {
		s.Fatal(err)
	}
	stop()
	return outline(s.end(r, done))
}

// outline lists the texts and calls of a turn, in the order in which they began.
func outline(events []trace.Event) []string {
	var all []string
	texts := map[string]string{}
	for _, e := range events {
		switch p := e.Payload.(type) {
		case trace.Message:
			texts[p.Part] = p.Text
		case trace.Thought:
			texts[p.Part] = "(" + p.Text + ")"
		}
	}
	for _, e := range events {
		var line string
		switch p := e.Payload.(type) {
		case trace.MessageStart:
			line = texts[p.Part]
		case trace.ThoughtStart:
			line = texts[p.Part]
		case trace.ToolCall:
			line = p.RawName + string(p.Input) + p.InputText
		case trace.ToolResult:
			line = strings.TrimSuffix(string(p.Status)+":"+p.Error+string(p.Output), "null")
		case trace.PermissionRequest:
			line = "may " + p.ToolCallID + "? " + p.Title
		case trace.Question:
			line = p.Text + "?"
		case trace.Answer:
			line = fmt.Sprintf("%s %q", p.Outcome, p.Values)
		case trace.File:
			line = "file " + p.URL + " " + p.MediaType
		case trace.Error:
			line = "error " + p.Message
		case trace.Stop:
			line = strings.TrimSpace(string(p.Outcome) + " " + p.Reason + " " + p.Error)
		default:
			continue
		}
		if who, is := e.Actor.SubagentCall(); is {
			line = who + "> " + line
		}
		all = append(all, line)
	}
	return all
}

// shown are the data of a turn that clients see.
func shown(events []trace.Event) []string {
	var all []string
	for _, e := range events {
		if p, is := e.Payload.(trace.Data); is && !p.Domain {
			all = append(all, strings.TrimSpace(p.Name+" "+p.ID)+" "+string(p.Value))
		}
	}
	return all
}

// allow answers approvals, with an input of the person's own unless that is empty.
func allow(input string) func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
	return func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "approve", OptionKind: trace.AllowOnce, UpdatedInput: []byte(input), By: "bob"}
	}
}

func reject(context.Context, trace.PermissionRequest) trace.PermissionResponse {
	return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "reject", OptionKind: trace.RejectOnce, Reason: "not now", By: "bob"}
}

// answer answers all questions with the same words.
func answer(values ...string) func(context.Context, trace.Question) trace.Answer {
	return func(context.Context, trace.Question) trace.Answer {
		return trace.Answer{Outcome: trace.Selected, Values: values, By: "bob"}
	}
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
