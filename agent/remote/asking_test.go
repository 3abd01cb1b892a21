package remote_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
)

// answering is a host whose people answer what is asked, except for what is in late: those
// wait until the turn is over.
func answering(late ...string) *agenttest.Host {
	host := agenttest.NewHost()
	host.RequestSuffix = "-x"
	host.OnAsk = func(ctx context.Context, q trace.Question) trace.Answer {
		if slices.Contains(late, q.Text) {
			<-ctx.Done()
			return trace.Answer{Outcome: trace.Canceled}
		}
		return trace.Answer{Outcome: trace.Selected, Values: []string{"no " + q.Text}, By: "bob"}
	}
	host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "yes", By: "bob"}
	}
	return host
}

// everything are the answers that the toy server gets in the end.
const everything = "map[colour:no colour? may paint:yes size:no size?]"

// answered waits for so many answers of people.
func answered(t *testing.T, r *agenttest.Recorder, n int) {
	t.Helper()
	seen := map[string]bool{} // each event comes more than once
	if _, err := r.Await(t.Context(), func(e trace.Event) bool {
		if k := e.Payload.Kind(); k == trace.KindAnswer || k == trace.KindPermissionResponse {
			seen[e.ID] = true
		}
		return len(seen) == n
	}); err != nil {
		t.Fatal(err)
	}
}

func TestAllAnswersGoInOneRun(t *testing.T) {
	t.Parallel()
	srv, host := newServer(t), answering()
	r, done := begin(t.Context(), host, open(t, srv, host, nil), "ask")
	said, stop := finish(t, r, done)
	if said != everything || stop.Reason != "answered" || srv.did("/run") != 2 {
		t.Errorf("the turn said %q, ended with %+v, and the server got %q", said, stop, srv.requests)
	}
	if n := len(agenttest.Each[trace.Question](r.Events())); n != 2 {
		t.Errorf("%d questions are on record: the colour was asked twice", n)
	}
}

func TestThePolicyAnswersAsAPersonDoes(t *testing.T) {
	t.Parallel()
	srv, host := newServer(t), answering()
	host.OnPermit = nil
	host.Judge = func(trace.PermissionRequest, trace.ToolCall) (trace.PermissionResponse, bool) {
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "yes", OptionKind: trace.AllowOnce}, true
	}
	r, done := begin(t.Context(), host, open(t, srv, host, nil), "ask")
	if said, _ := finish(t, r, done); !strings.Contains(said, "size:no size?") {
		t.Errorf("the turn said %q, and the server got %q", said, srv.requests)
	}
}

func TestTheAnswersWaitForTheEndOfARunWhoseStreamBreaksOff(t *testing.T) {
	t.Parallel()
	srv, host := newServer(t), answering()
	r, done := begin(t.Context(), host, open(t, srv, host, nil), "ask, and break off")
	said, _ := finish(t, r, done)
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if said != "map[colour:no colour?]" || len(srv.requests) != 4 || !strings.HasPrefix(srv.requests[2], "/join ended") {
		t.Errorf("the turn said %q, and the server got %q", said, srv.requests)
	}
}

func TestTheDecoderMayEndTheTurnInsteadOfANextRun(t *testing.T) {
	t.Parallel()
	srv, host := newServer(t), answering()
	host.OnAsk = func(context.Context, trace.Question) trace.Answer {
		return trace.Answer{Outcome: trace.Selected, Values: []string{"quit"}}
	}
	r, done := begin(t.Context(), host, open(t, srv, host, nil), "ask")
	if _, stop := finish(t, r, done); stop.Reason != "quit" || srv.did("/run") != 1 {
		t.Errorf("the turn ended with %+v, and the server got %q", stop, srv.requests)
	}
}

// A turn may be ended after the last answer has come, and before the next run is on its way.
func TestATurnThatIsOverBeginsNoOtherRun(t *testing.T) {
	t.Parallel()
	srv, host := newServer(t), answering()
	calls := 0
	s := open(t, srv, host, func(_ *remote.Spec, d *toy) {
		d.asks = func(m agent.Message, turns agent.Turns) {
			if c, _ := remote.ParseCall(m.Data); !c.Stream {
				return
			}
			if calls++; calls == 2 {
				turns.Current().End(trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled})
			}
		}
	})
	r, done := begin(t.Context(), host, s, "ask")
	if _, stop := finish(t, r, done); stop.Reason != "stopped" {
		t.Errorf("the turn ended with %+v", stop)
	}
	if err := s.Close(); err != nil { // which waits for what was on its way
		t.Fatal(err)
	}
	if n := srv.did("/run"); calls != 2 || n != 1 || len(host.Begun()) != 0 {
		t.Errorf("the server got %q, and the agent has begun %d turns", srv.requests, len(host.Begun()))
	}
}

func TestATurnThatWaitsForPeopleIsStoppedWithoutARequest(t *testing.T) {
	t.Parallel()
	srv, host := newServer(t), answering("size?")
	over := make(chan struct{}, 2)
	s := open(t, srv, host, func(_ *remote.Spec, d *toy) { d.ended = func() { over <- struct{}{} } })
	ctx, stopping := context.WithCancel(t.Context())
	r, done := begin(ctx, host, s, "ask")
	<-over
	answered(t, r, 2)
	stopping()
	if _, stop := finish(t, r, done); stop.Outcome != trace.OutcomeCanceled || srv.did("/stop") != 0 || srv.did("/run") != 1 {
		t.Errorf("the turn ended with %+v, and the server got %q", stop, srv.requests)
	}
	r, done = begin(t.Context(), host, s, "hello")
	if said, _ := finish(t, r, done); said != "You said: hello" {
		t.Errorf("the next turn said %q", said)
	}
}

func TestAnswersFromBeforeARestartAreKept(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"ask", "ask one by one"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			answersAreKept(t, text)
		})
	}
}

func answersAreKept(t *testing.T, text string) {
	t.Helper()
	srv, host := newServer(t), answering("size?")
	s := open(t, srv, host, nil)
	ctx, leave := context.WithCancelCause(t.Context())
	r, done := begin(ctx, host, s, text)
	answered(t, r, 1)
	close(srv.more)
	answered(t, r, 2)
	if err := r.Detach(); err != nil {
		t.Fatal(err)
	}
	leave(agent.ErrDetached)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil || srv.did("/stop") != 0 {
		t.Fatalf("%v, and the server got %q", err, srv.requests)
	}
	host = answering("colour?")
	host.OnPermit = nil
	again, left := host.OpenTurn(r)
	ended, next := make(chan error, 1), open(t, srv, host, nil)
	go func() { ended <- next.Reattach(t.Context(), left) }()
	said, stop := finish(t, again, ended)
	if said != everything || stop.Reason != "answered" || srv.did("/run") != 2 || srv.did("/run   Bearer anns-token") != 0 {
		t.Errorf("the turn said %q, ended with %+v, and the server got %q", said, stop, srv.requests)
	}
	if all := agenttest.Each[trace.Question](again.Events()); len(all) != 2 {
		t.Errorf("the questions on record are %+v", all)
	}
}
