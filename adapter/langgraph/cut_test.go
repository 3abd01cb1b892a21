package langgraph_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// cutting is a proxy that breaks streams off, or is away for a while as a server that is
// restarted.
type cutting struct {
	*agenttest.ShakyServer
	after atomic.Int64 // so many bytes of a stream; 0 breaks nothing off
	joins atomic.Int64
}

func newCutting(t *testing.T, to string) (*cutting, string) {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	c := &cutting{}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		FlushInterval: -1,
		ModifyResponse: func(res *http.Response) error {
			if n := c.after.Load(); n > 0 && strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
				if res.Request.Method == http.MethodGet {
					c.joins.Add(1)
				}
				res.Body = &breaking{ReadCloser: res.Body, left: n}
			}
			return nil
		},
		ErrorLog:     log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	c.ShakyServer = agenttest.NewShakyServer(t, proxy)
	return c, c.URL
}

func (c *cutting) restart(d time.Duration) {
	c.Leave()
	time.Sleep(d)
	c.Return()
}

// breaking is a body that breaks off.
type breaking struct {
	io.ReadCloser
	left int64
}

func (b *breaking) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// testCuts breaks streams off at random places: nothing is lost and nothing comes twice.
func testCuts(t *testing.T, server string) {
	t.Helper()
	want := []string{strings.Join(wordsTo(40), " "), "completed stop"}
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // cuts that can be repeated
	for range agenttest.Rounds(t, 4) {
		after := 6000 + r.Int64N(6000) // more than the largest events, so that each stream brings news
		t.Run(fmt.Sprintf("after %d bytes", after), func(t *testing.T) {
			t.Parallel()
			c, url := newCutting(t, server)
			s := newStage(t, url, "agent")
			c.after.Store(after)
			if got := s.says("slow"); !slices.Equal(got, want) {
				t.Errorf("%q", got)
			}
			if c.joins.Load() == 0 {
				t.Error("nothing was cut")
			}
		})
	}
}

// testRestarts restarts the gateway, the server's door, or both at random moments of turns:
// nothing is lost and nothing comes twice.
func testRestarts(t *testing.T, server string) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // moments that can be repeated
	kinds := [][2]string{{"agent", "slow"}, {"agent", "weather"}, {"duo", "go"}, {"atonce", "go"}, {"nested", "weather"}, {"agent", "parallel"}, {"agent", "think"}}
	var mu sync.Mutex
	want := map[[2]string][]string{} // without a restart
	for round := range agenttest.Rounds(t, 6) {
		kind, at := kinds[round%len(kinds)], r.IntN(30)
		gateway, door, away := r.IntN(3) != 0, round%2 == 0, time.Duration(r.IntN(400))*time.Millisecond
		t.Run(fmt.Sprintf("%d, %v, gateway %v, server %v after %d records", round, kind, gateway, door, at), func(t *testing.T) {
			t.Parallel()
			mu.Lock()
			if want[kind] == nil {
				want[kind] = sorted(newStage(t, server, kind[0]).says(kind[1]))
			}
			want := want[kind]
			mu.Unlock()
			c, url := newCutting(t, server)
			s := newStage(t, url, kind[0])
			ctx, leave := context.WithCancelCause(t.Context())
			defer leave(nil)
			rec, done := s.begin(ctx, kind[1])
			for len(rec.Events()) < at && !rec.Over() || s.host.Token() == "" || (door || !gateway) && len(rec.Events()) < 3 { // a prompt on its way would be refused
				time.Sleep(time.Millisecond)
			}
			if door {
				c.restart(away)
			}
			if gateway {
				rec, done = s.restart(rec, done, leave)
			}
			if got := sorted(lines(s.end(rec, done))); !slices.Equal(got, want) {
				t.Errorf("%q\nand without a restart\n%q", got, want)
			}
		})
	}
}

func sorted(all []string) []string { slices.Sort(all); return all }

// testWaits leaves a turn that waits for a person.
func testWaits(t *testing.T, server string) {
	for graph, prompt := range map[string]string{"approval": "mail", "two": "go", "paused": "weather"} {
		t.Run(graph, func(t *testing.T) {
			t.Parallel()
			testWait(t, server, graph, prompt)
		})
	}
}

func testWait(t *testing.T, server, graph, prompt string) {
	t.Helper()
	s := newStage(t, server, graph)
	s.host.OnPermit = func(ctx context.Context, _ trace.PermissionRequest) trace.PermissionResponse {
		<-ctx.Done()
		return trace.PermissionResponse{Outcome: trace.Canceled}
	}
	s.host.OnAsk = func(ctx context.Context, _ trace.Question) trace.Answer {
		<-ctx.Done()
		return trace.Answer{Outcome: trace.Canceled}
	}
	ctx, leave := context.WithCancelCause(t.Context())
	r, done := s.begin(ctx, prompt)
	left := 1
	if graph == "two" {
		left = 2
	}
	s.await(r, func(e trace.Event) bool {
		if k := e.Payload.Kind(); k == trace.KindPermissionRequest || k == trace.KindQuestion {
			left--
		}
		return left == 0
	})
	again, ended := s.restart(r, done, leave)
	got := lines(s.end(again, ended))
	want := map[string]string{"approval": "That was it.", "two": `left "yes", right "yes"`, "paused": "It is 21 degrees."}[graph]
	if len(got) < 2 || got[len(got)-2] != want || got[len(got)-1] != "completed stop" {
		t.Errorf("%s: %q", graph, got)
	}
}

// restart ends the session as a gateway does that stops, and takes the turn up again.
func (s *stage) restart(r *agenttest.Recorder, done chan error, leave context.CancelCauseFunc) (*agenttest.Recorder, chan error) {
	s.Helper()
	if err := r.Detach(); err != nil {
		s.Fatal(err)
	}
	leave(agent.ErrDetached)
	if err := <-done; err != nil {
		s.Fatal(err)
	}
	token := s.host.Token()
	if err := s.session.Close(); err != nil {
		s.Fatal(err)
	}
	s.host = agenttest.NewHost()
	s.host.RequestSuffix = "-x"
	s.host.OnPermit = approve(trace.AllowOnce, "")
	s.host.OnAsk = func(_ context.Context, q trace.Question) trace.Answer {
		return trace.Answer{Outcome: trace.Selected, Values: []string{first(q, "yes")}, By: "ann"}
	}
	again, left := s.host.OpenTurn(r)
	ended := make(chan error, 1)
	s.open(agent.Config{SessionID: "s", Resume: token})
	session := s.session
	go func() { ended <- s.rt.(agent.Reattacher).Reattach(s.Context(), session, left) }()
	return again, ended
}

func first(q trace.Question, otherwise string) string {
	if len(q.Choices) > 0 {
		return q.Choices[0].Label
	}
	return otherwise
}

func wordsTo(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("w%d", i))
	}
	return all
}
