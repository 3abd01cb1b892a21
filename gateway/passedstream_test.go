package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/gateway/cluster"
	"github.com/tributary-dev/tributary/session"
)

// gateways are what two gateways know of one another. The real database is tried by test/endurance.
type gateways struct {
	mu    sync.Mutex
	all   []eventlog.Gateway
	owner string // of all sessions
}

func (g *gateways) change(do func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	do()
}

// gatewayView is what one gateway sees of them.
type gatewayView struct {
	*gateways
	id string
}

func (v gatewayView) Self() eventlog.Gateway { return eventlog.Gateway{ID: v.id} }
func (gatewayView) Owned(string) uint64      { return 0 }

func (v gatewayView) Announce(_ context.Context, address string, key []byte, _ string) error {
	v.change(func() { v.all = append(v.all, eventlog.Gateway{ID: v.id, Name: v.id, Address: address, Key: key}) })
	return nil
}

func (v gatewayView) Gateways(context.Context) (all []eventlog.Gateway, err error) {
	v.change(func() { all = slices.Clone(v.all) })
	return all, nil
}

func (v gatewayView) OwnerOf(context.Context, string) (owner eventlog.Gateway, is bool, err error) {
	v.change(func() {
		i := slices.IndexFunc(v.all, func(g eventlog.Gateway) bool { return g.ID == v.owner })
		if is = i >= 0; is {
			owner = v.all[i]
		}
	})
	return owner, is, nil
}

// join has a gateway answer the others until the test or stop ends it.
func (g *gateways) join(t *testing.T, id string) (n *cluster.Node, stop func()) {
	t.Helper()
	n, err := cluster.New(cluster.Options{Store: gatewayView{g, id}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	if err := n.Announce(ctx, l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	go func() { ended <- n.Serve(ctx, l) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		g.change(func() { g.all = slices.DeleteFunc(g.all, func(o eventlog.Gateway) bool { return o.ID == id }) })
	})
	t.Cleanup(stop)
	return n, stop
}

// withDying is a gateway whose sessions another one owns, which dies when it has answered so.
func withDying(t *testing.T, answer func(http.ResponseWriter, *http.Request)) (stand, *gateways) {
	t.Helper()
	g := &gateways{}
	own, _ := g.join(t, "own")
	dying, stop := g.join(t, "dying")
	dying.Handle(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		answer(w, r)
		go stop()
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}))
	return newStandOn(t, memlog.New(), func(o *session.Options) { o.OnDisconnect = session.Detach }, func(o *gateway.Options) { o.Cluster = own }), g
}

// A prompt whose owner dies before it answers is run by the gateway that was asked, if nobody else has the session. The
// prompt keeps the key that the dead one got: it may be on record under that key.
func TestAPromptKeepsItsKeyWhenItsOwnerDies(t *testing.T) {
	t.Parallel()
	keys := make(chan string, 1)
	s, others := withDying(t, func(_ http.ResponseWriter, r *http.Request) { keys <- r.Header.Get(cluster.KeyHeader) })
	others.change(func() { others.owner = "dying" })
	message := regexp.MustCompile(`"messageId":"([^"]+)"`)
	first, _, stream := s.do("POST", "/api/chat", submit("s", "u1", "hello"))
	second, _, again := s.do("POST", "/api/chat", submit("s", "u1", "hello"), cluster.KeyHeader, <-keys)
	one, two := message.FindStringSubmatch(stream), message.FindStringSubmatch(again)
	if first != http.StatusOK || second != http.StatusOK || one == nil || two == nil || one[1] != two[1] {
		t.Errorf("%d %s\nand with the same key\n%d %s", first, stream, second, again)
	}
}

// A stream whose owner dies goes on behind the last place that is known, also for a client that resumes only what runs. A piece
// of a frame is left out.
func TestAStreamGoesOnWhereItsOwnerDied(t *testing.T) {
	t.Parallel()
	var turn string
	s, others := withDying(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set(cluster.PositionHeader, "1")
		_, _ = fmt.Fprintf(w, ": stream-open\n\n: at {\"turn\":%q,\"seq\":0}\n\n: keep-alive\n\ndata: {\"type\":\"text-de", turn)
		_ = http.NewResponseController(w).Flush()
	})
	_, _, want := s.do("POST", "/api/chat", submit("s", "u1", "hello"))
	_, _, trace := s.do("GET", "/api/sessions/s/trace", "")
	if id := regexp.MustCompile(`"turn":"([^"]+)"`).FindStringSubmatch(trace); id != nil {
		turn = id[1]
	}
	others.change(func() { others.owner = "dying" })
	status, header, got := s.do("GET", "/api/chat/s/stream?ended=0", "")
	events := regexp.MustCompile(`(?m)^: .*\n\n`)
	text := regexp.MustCompile(`"delta":"([^"]*)"`)
	said := func(stream string) (all string) {
		for _, d := range text.FindAllStringSubmatch(stream, -1) {
			all += d[1]
		}
		return all
	}
	whole := events.ReplaceAllString(got, "")
	if status != http.StatusOK || header.Get(cluster.PositionHeader) != "" || said(got) != said(want) || said(got) == "" {
		t.Errorf("%d %v %s\nwant %s", status, header, got, want)
	}
	if strings.Contains(got, "text-de\n") || strings.Contains(got, ": at ") || !strings.HasSuffix(whole, "data: [DONE]\n\n") || strings.Count(whole, "[DONE]") != 1 {
		t.Errorf("%s", got)
	}
	if _, _, all := s.do("GET", "/metrics", ""); !strings.Contains(all, "\ntributary_forwards_continued_total 1\n") || !strings.Contains(all, "\ntributary_forwards_failed_total 0\n") {
		t.Errorf("the metrics say something else:\n%s", all)
	}
}

// A stream that is cut by an owner which goes on running is cut for the client too, and counts as a request without a whole answer.
func TestAStreamThatItsOwnerCutsHasNoWholeAnswer(t *testing.T) {
	t.Parallel()
	g := &gateways{owner: "alive"}
	own, _ := g.join(t, "own")
	alive, _ := g.join(t, "alive")
	alive.Handle(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set(cluster.PositionHeader, "1")
		_, _ = io.WriteString(w, ": stream-open\n\n: at {\"turn\":\"t\",\"seq\":0}\n\n")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	s := newStandOn(t, memlog.New(), nil, func(o *gateway.Options) { o.Cluster = own })
	res, err := http.Get(s.url + "/api/chat/s/stream") //nolint:noctx // it ends soon
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if all, err := io.ReadAll(res.Body); err == nil {
		t.Errorf("it has an end: %s", all)
	}
	if got := own.Passed(); got != (cluster.Passed{All: 1, Failed: 1}) {
		t.Errorf("%+v", got)
	}
}
