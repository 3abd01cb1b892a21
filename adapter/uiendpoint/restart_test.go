package uiendpoint_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/uiendpoint"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// accident is what happens while a message is streamed.
type accident int

const (
	breaks         accident = iota // the connection breaks
	halves                         // the connection breaks in the middle of an event
	upstreamStarts                 // the endpoint's process is gone for a moment
	gatewayStarts                  // so is the gateway's
)

// shaky is an endpoint with a resume route. Each connection has one accident, until there
// are no more.
type shaky struct {
	t      *testing.T
	chunks []string
	rng    *rand.Rand

	mu        sync.Mutex
	accidents []accident
	server    *agenttest.ShakyServer
	starts    sync.WaitGroup
	hung      chan struct{} // the gateway is to start again
}

func newShaky(t *testing.T, chunks []string, rng *rand.Rand) *shaky {
	s := &shaky{t: t, chunks: chunks, rng: rng, hung: make(chan struct{})}
	for range 1 + rng.IntN(3) {
		s.accidents = append(s.accidents, accident(rng.IntN(4)))
	}
	s.server = agenttest.NewShakyServer(t, s)
	t.Cleanup(s.starts.Wait)
	return s
}

// ServeHTTP streams the message from its start.
func (s *shaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	what, more := accident(0), len(s.accidents) > 0
	if more {
		what, s.accidents = s.accidents[0], s.accidents[1:]
	}
	n, half := s.rng.IntN(len(s.chunks)), s.rng.Float64()
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	if !more {
		send(w, s.chunks...)
		return
	}
	send(w, s.chunks[:n]...)
	switch what {
	case halves:
		fmt.Fprint(w, ("data: " + s.chunks[n])[:int(half*float64(len(s.chunks[n])))])
		_ = http.NewResponseController(w).Flush()
	case upstreamStarts:
		s.starts.Go(func() {
			s.server.Leave()
			time.Sleep(time.Duration(half*20) * time.Millisecond)
			s.server.Return()
		})
		<-r.Context().Done()
	case gatewayStarts:
		time.Sleep(time.Duration(half*3) * time.Millisecond) // what was sent is on record, or it is not
		s.hung <- struct{}{}
		<-r.Context().Done()
	case breaks:
	}
	panic(http.ErrAbortHandler)
}

// survives plays one turn through all accidents.
func (s *shaky) survives() ([]trace.Event, trace.Stop) {
	settings := uiendpoint.Settings{Resume: true}
	c := newConversation(s.t, s.server.URL+"/api/chat", settings)
	r := c.host.Turn(prompt("x"))
	run := func(ctx context.Context) error { return c.session.Prompt(ctx, prompt("x"), r.Builder) }
	for {
		ctx, leave := context.WithCancelCause(s.t.Context())
		done := make(chan error, 1)
		go func() { done <- run(ctx) }()
		select {
		case err := <-done:
			leave(nil)
			return c.finished(r, err)
		case <-s.hung:
		}
		if err := r.Detach(); err != nil {
			s.t.Fatal(err)
		}
		leave(agent.ErrDetached)
		<-done
		if err := c.session.Close(); err != nil {
			s.t.Fatal(err)
		}
		var left agent.OpenTurn
		c = newConversation(s.t, s.server.URL+"/api/chat", settings)
		r, left = c.host.OpenTurn(r)
		left.Prompt = &trace.Prompt{Message: prompt("x").Message}
		run = func(ctx context.Context) error { return c.runtime.Reattach(ctx, c.session, left) }
	}
}

// The answers are delivered when the endpoint is back.
func TestAnEndpointThatIsGoneGetsItsAnswersLater(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := newConversation(t, f.url(), uiendpoint.Settings{})
	var starts sync.WaitGroup
	t.Cleanup(starts.Wait)
	c.host.OnPermit = func(ctx context.Context, r trace.PermissionRequest) trace.PermissionResponse {
		f.Leave()
		starts.Go(func() {
			time.Sleep(150 * time.Millisecond)
			f.Return()
		})
		time.Sleep(50 * time.Millisecond) // the client learns that its idle connection is gone
		return agenttest.Choose(trace.AllowOnce)(ctx, r)
	}
	if events, stop := c.plays("permit"); stop.Outcome != trace.OutcomeCompleted || agenttest.Each[trace.ToolResult](events)[0].Status != trace.ToolCompleted {
		t.Errorf("the turn ended with %+v", stop)
	}
}

// Both sides start again at random moments: nothing is lost, and nothing is there twice.
func TestRestartsAtRandomMoments(t *testing.T) {
	t.Parallel()
	rounds := agenttest.Rounds(t, 20)
	recordings := []string{"ai5-weather", "ai6-think", "ai7-weather", "ai7-fail", "ai7-unknown", "everything"}
	for round := range rounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(round), 1))
			chunks := chunksOf(t, recordings[round%len(recordings)])
			s := newShaky(t, chunks, rng)
			plan := strings.Trim(fmt.Sprint(s.accidents), "[]")
			events, stop := s.survives()
			if got, want := shown(t, recorded(events)), shown(t, records(t, body(chunks...))); got != want || stop.Outcome != trace.OutcomeCompleted {
				t.Errorf("after the accidents %s the turn ended with %+v and is\n%s\nwant\n%s", plan, stop, got, want)
			}
			if n := len(agenttest.Each[trace.Stop](events)); n != 1 {
				t.Errorf("there are %d ends", n)
			}
		})
	}
}
