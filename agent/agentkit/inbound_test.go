//go:build unix

package agentkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// caller is the toy protocol of an agent that connects by itself: it gets hello and says
// hello when it takes prompts.
type caller struct {
	toy
	phase agentkit.Phase
}

func (c *caller) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	var l message
	if err := json.Unmarshal(m.Data, &l); err != nil {
		return nil, err
	}
	effects, err := c.toy.Decode(m, t)
	switch {
	case l.Hello && m.Dir == agent.In:
		c.phase = agentkit.Starting
	case l.Hello, l.End != "":
		c.phase = agentkit.Ready
	case l.Prompt != "", l.Say != "" && t.Current() != nil:
		c.phase = agentkit.Working
	}
	return effects, err
}

func (*caller) Greeting() []json.RawMessage { return []json.RawMessage{line(message{Hello: true})} }

func (*caller) Reply(data json.RawMessage, err error) json.RawMessage {
	if err != nil {
		return line(message{Say: "no JSON"})
	}
	return nil
}

func (*caller) Prompt(p agent.Prompt, _ func(string) bool, _ agent.Config) json.RawMessage {
	return line(message{Prompt: p.Text()})
}
func (*caller) Stop() json.RawMessage   { return line(message{Stop: true}) }
func (c *caller) State() agentkit.State { return agentkit.State{Phase: c.phase} }

// wire is the agent's end of a connection in the test's hands.
type wire struct {
	t       *testing.T
	in, out chan []byte
	once    sync.Once
	closed  chan struct{}
	reason  string
	served  chan struct{}
}

func connect(t *testing.T, in *agentkit.Inbound) *wire {
	t.Helper()
	w := &wire{t: t, in: make(chan []byte), out: make(chan []byte, 100), closed: make(chan struct{}), served: make(chan struct{})}
	go func() {
		defer close(w.served)
		in.Serve(context.Background(), "s", w)
	}()
	t.Cleanup(w.leave)
	w.gets(message{Hello: true})
	return w
}

var errHungUp = errors.New("hung up")

func (w *wire) Read(context.Context) ([]byte, error) {
	select {
	case data := <-w.in:
		return data, nil
	case <-w.closed:
		return nil, errHungUp
	}
}

func (w *wire) Write(_ context.Context, data []byte) error {
	select {
	case w.out <- data:
		return nil
	case <-w.closed:
		return errHungUp
	}
}

func (w *wire) Close(reason string) error {
	w.once.Do(func() { w.reason = reason; close(w.closed) })
	return nil
}

func (w *wire) leave() {
	_ = w.Close("")
	<-w.served
}

func (w *wire) says(all ...message) {
	for _, m := range all {
		w.in <- line(m)
	}
}

func (w *wire) gets(want message) {
	w.t.Helper()
	select {
	case data := <-w.out:
		if string(data) != string(line(want)) {
			w.t.Errorf("the agent got %s, want %s", data, line(want))
		}
	case <-time.After(time.Hour):
		w.t.Errorf("the agent got nothing, want %s", line(want))
	}
}

// visited runs a test with a session whose agent connects by itself. A turn with the prompt
// "hello" is under way.
func visited(t *testing.T, test func(*testing.T, *agentkit.Inbound, context.CancelFunc, func() (string, trace.Stop))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		in := agentkit.NewInbound("toy", func() agentkit.InboundProtocol { return &caller{} })
		host := agenttest.NewHost()
		s := in.Open(host, agent.Config{SessionID: "s"})
		defer s.Close() //nolint:errcheck // it never fails
		p := agent.Prompt{Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: "hello"}}}}
		r := host.Turn(p)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- s.Prompt(ctx, p, r.Builder) }()
		test(t, in, cancel, func() (string, trace.Stop) {
			if err := <-done; err != nil {
				t.Errorf("Prompt: %v", err)
			}
			stop, _ := r.Result()
			if err := r.Finish(stop); err != nil {
				t.Error(err)
			}
			return strings.Join(strings.Fields(agenttest.Said(r.Events())), " "), stop
		})
	})
}

func TestAnAgentThatConnectsByItselfGetsThePromptThatWaitsWhenItIsReady(t *testing.T) {
	visited(t, func(t *testing.T, in *agentkit.Inbound, _ context.CancelFunc, end func() (string, trace.Stop)) {
		time.Sleep(time.Minute)
		w := connect(t, in)
		time.Sleep(time.Minute)
		if len(w.out) > 0 {
			t.Errorf("the agent is not ready and gets %s", <-w.out)
		}
		w.says(message{Hello: true})
		w.gets(message{Prompt: "hello"})
		w.says(message{Say: "Hi."}, message{End: "done"})
		if said, stop := end(); said != "Hi." || stop.Reason != "done" {
			t.Errorf("%q %+v", said, stop)
		}
	})
}

func TestATurnGoesOnByTheNextConnectionOrGetsItsPromptAgain(t *testing.T) {
	for name, goesOn := range map[string]bool{"goes on": true, "begins again": false} {
		t.Run(name, func(t *testing.T) {
			visited(t, func(t *testing.T, in *agentkit.Inbound, _ context.CancelFunc, end func() (string, trace.Stop)) {
				one := connect(t, in)
				one.says(message{Hello: true})
				one.gets(message{Prompt: "hello"})
				one.says(message{Say: "One."})
				one.leave()
				time.Sleep(30 * time.Second)
				two := connect(t, in)
				if !goesOn {
					two.says(message{Hello: true})
					two.gets(message{Prompt: "hello"})
				}
				two.says(message{Say: "Two."}, message{End: "done"})
				if said, stop := end(); said != "One. Two." || stop.Reason != "done" || len(two.out) > 0 {
					t.Errorf("%q %+v", said, stop)
				}
			})
		})
	}
}

func TestAnAgentThatStaysAwayFailsTheTurn(t *testing.T) {
	visited(t, func(t *testing.T, in *agentkit.Inbound, _ context.CancelFunc, end func() (string, trace.Stop)) {
		w := connect(t, in)
		w.says(message{Hello: true})
		w.gets(message{Prompt: "hello"})
		w.leave()
		if _, stop := end(); stop.Reason != trace.ReasonLost || !strings.Contains(stop.Error, "The toy of this session is gone") {
			t.Errorf("%+v", stop)
		}
	})
}

func TestASecondConnectionReplacesTheFirst(t *testing.T) {
	visited(t, func(t *testing.T, in *agentkit.Inbound, cancel context.CancelFunc, end func() (string, trace.Stop)) {
		one, two := connect(t, in), connect(t, in)
		<-one.served
		if one.reason != "Replaced by new toy connection" {
			t.Errorf("the first connection was closed with %q", one.reason)
		}
		two.says(message{Hello: true})
		two.gets(message{Prompt: "hello"})
		two.in <- []byte("garbage")
		two.gets(message{Say: "no JSON"})
		cancel()
		two.gets(message{Stop: true})
		two.says(message{End: "stopped by the toy"})
		if _, stop := end(); stop.Reason != "stopped by the toy" {
			t.Errorf("%+v", stop)
		}
	})
}

// rejoined is a Link to an agent that has the prompt already.
type rejoined struct {
	t       *testing.T
	lost    chan struct{}
	reached bool
	again   chan struct{} // closed when Run connects again
	stopped chan struct{} // closed when the agent was asked to stop
}

func (r *rejoined) Connect(ctx context.Context) (agentkit.Connection, error) {
	if r.reached {
		close(r.again)
		<-ctx.Done()
		return agentkit.Connection{}, ctx.Err()
	}
	r.reached = true
	return agentkit.Connection{Lost: r.lost, GoesOn: true}, nil
}

func (r *rejoined) Send(context.Context) error {
	r.t.Error("the prompt was sent again")
	return nil
}

func (r *rejoined) Stop(context.Context) error {
	close(r.stopped)
	return errHungUp
}

func (*rejoined) Cut() {}

func (*rejoined) Lost(agentkit.Loss) (again bool, end trace.Stop) { return true, trace.Stop{} }

// joined runs a turn that an agent has already, until the test has ended it.
func joined(t *testing.T, test func(*rejoined, *trace.Builder, context.CancelFunc)) trace.Stop {
	t.Helper()
	host := agenttest.NewHost()
	r := host.Turn(agent.Prompt{})
	s := agentkit.New(host, agent.Config{}, agentkit.Options{Decoder: toy{}})
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	link := &rejoined{t: t, lost: make(chan struct{}), again: make(chan struct{}), stopped: make(chan struct{})}
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, r.Builder, link) }()
	test(link, r.Builder, cancel)
	err := <-done
	stop, _ := r.Result()
	if err := errors.Join(err, r.Finish(stop)); err != nil {
		t.Error(err)
	}
	return stop
}

func TestATurnThatTheAgentHasAlreadyIsJoinedWithoutItsPrompt(t *testing.T) {
	t.Parallel()
	stop := joined(t, func(_ *rejoined, b *trace.Builder, _ context.CancelFunc) {
		b.End(trace.Stop{Reason: "done", Outcome: trace.OutcomeCompleted})
	})
	if stop.Reason != "done" {
		t.Errorf("%+v", stop)
	}
}

func TestAStopWhileTheConnectionIsMadeAgainIsTriedAllTheSame(t *testing.T) {
	t.Parallel()
	stop := joined(t, func(l *rejoined, _ *trace.Builder, cancel context.CancelFunc) {
		close(l.lost)
		<-l.again
		cancel()
		<-l.stopped
	})
	if stop.Outcome != trace.OutcomeCanceled {
		t.Errorf("%+v", stop)
	}
}
