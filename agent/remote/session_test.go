package remote_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/agent/remote/remotetest"
	"github.com/tributary-dev/tributary/trace"
)

// begin starts a turn and returns its record and the result of Prompt.
func begin(ctx context.Context, host *agenttest.Host, s *remote.Session, text string) (*agenttest.Recorder, <-chan error) {
	p := agent.Prompt{
		Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}},
		By:      "ann", Caller: agent.Caller{Bearer: "anns-token"},
	}
	r, done := host.Turn(p), make(chan error, 1)
	go func() { done <- s.Prompt(ctx, p, r.Builder) }()
	return r, done
}

// finish waits for the end of a turn and returns what the agent said, and the end.
func finish(t *testing.T, r *agenttest.Recorder, done <-chan error) (said string, stop trace.Stop) {
	t.Helper()
	select {
	case err := <-done:
		if err != nil {
			stop = trace.Stop{Outcome: trace.OutcomeFailed, Error: err.Error()}
			_ = r.Finish(stop)
			return "", stop
		}
	case <-time.After(time.Minute):
		t.Fatal("the turn does not end")
	}
	verdict, ok := r.Result()
	if !ok {
		t.Fatal("the turn has no end")
	}
	if err := r.Finish(verdict); err != nil {
		t.Fatal(err)
	}
	if err := agenttest.CheckTurn(r.Events()); err != nil {
		t.Error(err)
	}
	return strings.TrimSpace(agenttest.Said(r.Events())), agenttest.Each[trace.Stop](r.Events())[0]
}

// speaking waits until the agent has said something.
func speaking(t *testing.T, r *agenttest.Recorder) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := r.Await(ctx, func(e trace.Event) bool { return e.Payload.Kind() == trace.KindMessageDelta }); err != nil {
		t.Fatal(err)
	}
}

func TestARunIsARequestAndItsAnswerIsTheTurn(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]struct{ said, reason, sentence string }{
		"hello":  {"You said: hello", "done", ""},
		"lines":  {"by line", "done", ""},
		"cut":    {"one two", "done", ""},
		"again":  {"one and two", "done", ""}, // the server repeats the last event
		"far":    {"one two", "done", ""},     // the server is away for two requests
		"lost":   {"one", trace.ReasonLost, "The toy did not go on: the stream has no place to go on from"},
		"refuse": {"", "refused", "The toy did not take the prompt: not today"},
	} {
		t.Run(prompt, func(t *testing.T) {
			t.Parallel()
			srv, host := newServer(t), agenttest.NewHost()
			r, done := begin(t.Context(), host, open(t, srv, host, nil), prompt)
			said, stop := finish(t, r, done)
			if said != want.said || stop.Reason != want.reason || stop.Error != want.sentence {
				t.Errorf("the turn said %q and ended with %+v", said, stop)
			}
			if want := map[string]trace.Class{"refuse": trace.ClassRequest, "lost": trace.ClassGateway}[prompt]; stop.Class != want {
				t.Errorf("the class is %q, want %q", stop.Class, want)
			}
			if n := srv.did("/run"); n != 1 {
				t.Errorf("the prompt was sent %d times", n)
			}
		})
	}
}

func TestAnAnswerThatIsNoStreamIsReportedInASentence(t *testing.T) {
	t.Parallel()
	srv, host := newServer(t), agenttest.NewHost()
	r, done := begin(t.Context(), host, open(t, srv, host, nil), "page")
	if _, stop := finish(t, r, done); !strings.Contains(stop.Error, "text/html and no stream of events: is the address right?") {
		t.Errorf("the turn ended with %+v", stop)
	}
}

func TestTheCallersTokenGoesAlong(t *testing.T) {
	t.Parallel()
	srv, host := newServer(t), agenttest.NewHost()
	r, done := begin(t.Context(), host, open(t, srv, host, nil), "hello")
	finish(t, r, done)
	if srv.did("/run hello  Bearer anns-token") != 1 {
		t.Errorf("the server got %q", srv.requests)
	}
}

func TestAStopIsARequest(t *testing.T) {
	t.Parallel()
	srv, host := newServer(t), agenttest.NewHost()
	ctx, stopping := context.WithCancel(t.Context())
	r, done := begin(ctx, host, open(t, srv, host, nil), "slow")
	speaking(t, r)
	stopping()
	if said, stop := finish(t, r, done); said != "one" || stop.Outcome != trace.OutcomeCanceled || srv.did("/stop") != 1 {
		t.Errorf("the turn said %q, ended with %+v, and the server got %q", said, stop, srv.requests)
	}
}

func TestAStopThatDidNotArriveGoesBeforeTheNextPrompt(t *testing.T) {
	t.Parallel()
	srv, host := newServer(t), agenttest.NewHost()
	srv.deaf = 3 // one try each second for three seconds
	s := open(t, srv, host, func(spec *remote.Spec, _ *toy) { spec.StopTime = 1500 * time.Millisecond })
	ctx, stopping := context.WithCancel(t.Context())
	r, done := begin(ctx, host, s, "slow")
	speaking(t, r)
	stopping()
	if _, stop := finish(t, r, done); stop.Outcome != trace.OutcomeCanceled {
		t.Errorf("the turn ended with %+v", stop)
	}
	srv.mu.Lock()
	srv.deaf, srv.requests = 0, nil
	srv.mu.Unlock()
	r, done = begin(t.Context(), host, s, "hello")
	finish(t, r, done)
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if len(srv.requests) != 2 || !strings.HasPrefix(srv.requests[0], "/stop") || !strings.HasPrefix(srv.requests[1], "/run hello") {
		t.Errorf("the server got %q", srv.requests)
	}
}

func TestAServerWithoutAStopIsStoppedByTheEndOfItsStream(t *testing.T) {
	t.Parallel()
	srv, host := newServer(t), agenttest.NewHost()
	ctx, stopping := context.WithCancel(t.Context())
	r, done := begin(ctx, host, open(t, srv, host, func(_ *remote.Spec, d *toy) { d.noStop = true }), "slow")
	speaking(t, r)
	stopping()
	if _, stop := finish(t, r, done); stop.Outcome != trace.OutcomeCanceled || srv.did("/stop") != 0 {
		t.Errorf("the turn ended with %+v, and the server got %q", stop, srv.requests)
	}
}

func TestASilentStreamIsOpenedAgain(t *testing.T) {
	t.Parallel()
	srv, host := newServer(t), agenttest.NewHost()
	r, done := begin(t.Context(), host, open(t, srv, host, func(spec *remote.Spec, _ *toy) { spec.Silence = 200 * time.Millisecond }), "slow")
	if said, stop := finish(t, r, done); said != "one two" || stop.Reason != "done" || srv.did("/join") != 1 {
		t.Errorf("the turn said %q, ended with %+v, and the server got %q", said, stop, srv.requests)
	}
}

// lingering is a toy that knows the end of its run before the end of its stream.
type lingering struct {
	*toy
	over bool
}

func (d *lingering) Finished() bool { return d.over }

func (d *lingering) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	if m.Channel == remote.Ended {
		t.Current().End(trace.Stop{Reason: "done", Outcome: trace.OutcomeCompleted})
	}
	effects, err := d.toy.Decode(m, t)
	d.over = m.Dir == agent.Out && bytes.Contains(m.Data, []byte("last"))
	return effects, err
}

func TestAStreamThatStaysOpenBehindItsRunHasEnded(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"say":"last"}`+"\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(srv.Close)
	host := agenttest.NewHost()
	s := open(t, &server{Server: srv}, host, func(spec *remote.Spec, d *toy) {
		spec.New = func(s *remote.Session) remote.Protocol {
			d.Session = s
			return &lingering{toy: d}
		}
	})
	r, done := begin(t.Context(), host, s, "go")
	if said, stop := finish(t, r, done); said != "last" || stop.Reason != "done" {
		t.Errorf("the turn says %q and ends as %+v", said, stop)
	}
}

func TestADetachedTurnIsNotStoppedAndIsReattached(t *testing.T) {
	t.Parallel()
	srv, host := newServer(t), agenttest.NewHost()
	s := open(t, srv, host, nil)
	ctx, leave := context.WithCancelCause(t.Context())
	r, done := begin(ctx, host, s, "leave")
	speaking(t, r)
	if err := r.Detach(); err != nil {
		t.Fatal(err)
	}
	leave(agent.ErrDetached)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if srv.did("/stop") > 0 {
		t.Errorf("the run was stopped: %q", srv.requests)
	}
	host = agenttest.NewHost()
	again, ended := host.Reopen(r.Turn(), r.Events()), make(chan error, 1)
	next := open(t, srv, host, nil)
	go func() { ended <- next.Reattach(t.Context(), agent.OpenTurn{Builder: again.Builder}) }()
	if said, stop := finish(t, again, ended); said != "one two" && said != "one \ntwo" || stop.Reason != "done" {
		t.Errorf("the turn said %q and ended with %+v", said, stop)
	}
}

func TestCloseEndsATurnAndStopsItsRun(t *testing.T) {
	t.Parallel()
	srv, host := newServer(t), agenttest.NewHost()
	s := open(t, srv, host, nil)
	r, done := begin(t.Context(), host, s, "slow")
	speaking(t, r)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, stop := finish(t, r, done); stop.Outcome != trace.OutcomeCanceled || srv.did("/stop") != 1 {
		t.Errorf("the turn ended with %+v, and the server got %q", stop, srv.requests)
	}
	r, done = begin(t.Context(), host, s, "hello")
	if _, stop := finish(t, r, done); stop.Error != "the session is closed" {
		t.Errorf("a prompt after Close ended with %+v", stop)
	}
}

func TestBadServers(t *testing.T) {
	for _, prompt := range []string{"words", "lines of words"} {
		t.Run(prompt, func(t *testing.T) {
			remotetest.BadServers(t, remotetest.Upstream{
				Handler: func(t *testing.T) http.Handler { return newServer(t).Config.Handler },
				Open:    func(url string) (agent.Runtime, error) { return toyRuntime{url: url}, nil },
				Prompt:  prompt,
			})
		})
	}
}
