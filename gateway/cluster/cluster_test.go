package cluster_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/gateway/cluster"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// database is what the gateways of a test know of one another. The real one is tested with the store.
type database struct {
	mu       sync.Mutex
	gateways []eventlog.Gateway
	owners   map[string]string
	home     string // of all sessions
}

func (d *database) homeOf(context.Context, string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.home, nil
}

func (d *database) owns(session, gateway string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.owners == nil {
		d.owners = map[string]string{}
	}
	d.owners[session] = gateway
}

func (d *database) ends(gateway string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, g := range d.gateways {
		if g.ID == gateway {
			d.gateways = append(d.gateways[:i:i], d.gateways[i+1:]...)
			return
		}
	}
}

// view is the database as one gateway sees it.
type view struct {
	*database
	id string
}

func (v view) Self() eventlog.Gateway { return eventlog.Gateway{ID: v.id, Name: v.id} }
func (view) Owned(string) uint64      { return 0 }

func (v view) Announce(_ context.Context, address string, key []byte, version string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.gateways = append(v.gateways, eventlog.Gateway{ID: v.id, Name: v.id, Address: address, Key: key, Version: version})
	return nil
}

func (v view) Gateways(context.Context) ([]eventlog.Gateway, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]eventlog.Gateway(nil), v.gateways...), nil
}

func (v view) OwnerOf(_ context.Context, session string) (eventlog.Gateway, bool, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, g := range v.gateways {
		if g.ID == v.owners[session] {
			return g, true, nil
		}
	}
	return eventlog.Gateway{}, false, nil
}

// start runs a gateway until the test or stop ends it. Each answers requests of its own clients by itself only if no
// other gateway has the session.
func start(t *testing.T, d *database, id string, answer http.HandlerFunc) (client *httptest.Server, stop func()) {
	t.Helper()
	n, err := cluster.New(cluster.Options{Store: view{d, id}, HomeOf: d.homeOf, Patience: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	n.Handle(answer)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	if err := n.Announce(ctx, l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	go func() { served <- n.Serve(ctx, l) }()
	client = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		switch r.URL.Path {
		case "/read":
			read(t, n, w, r, id)
			return
		case "/passed":
			p := n.Passed()
			fmt.Fprintln(w, p.All, p.Failed)
			return
		}
		r = r.WithContext(access.With(r.Context(), access.Principal{ID: "ada", Name: "Ada", Role: access.Viewer, Bound: access.NewBound("s")}))
		switch done, err := n.Forward(w, r, "s", cluster.Passing{Once: r.URL.Path == "/once"}); {
		case err != nil:
			status := http.StatusInternalServerError
			if refused, is := errors.AsType[*refusal.Error](err); is {
				status = refused.Status
			} else if errors.Is(err, session.ErrElsewhere) {
				status = http.StatusServiceUnavailable
			}
			http.Error(w, err.Error(), status)
		case !done:
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s itself: %s", id, body)
		}
	}))
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		d.ends(id)
	})
	t.Cleanup(func() { client.Close(); stop() })
	return client, stop
}

// read is a gateway that reads a request before it passes it on.
func read(t *testing.T, n *cluster.Node, w http.ResponseWriter, r *http.Request, id string) {
	t.Helper()
	body, _ := io.ReadAll(r.Body)
	p, err := n.Prepare(r, "s", map[string]string{"read": string(body)})
	sent, done := false, false
	if err == nil && p != nil {
		cluster.WithKey(r)
		done, err = p.Send(w, r, cluster.Passing{Once: true}, func() { sent = true })
	}
	var again struct{ Read string }
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case done != sent:
		t.Errorf("done %v, and the owner has it: %v", done, sent)
	case !done && p != nil:
		if err := p.Again(&again); err != nil {
			t.Error(err)
		}
		fallthrough
	case !done:
		fmt.Fprintf(w, "%s itself: %s", id, again.Read)
	}
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no " + what)
		}
	}
}

func ask(t *testing.T, c *httptest.Server, method, path, body string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, c.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer of-ada")
	r.Header.Set("Cookie", "c=1")
	r.Header.Set("Tributary-Sender", "me")
	r.Header.Set("Traceparent", "00-1")
	got, err := c.Client().Do(r)
	if err != nil {
		return 0, nil, err.Error()
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		return got.StatusCode, got.Header, "cut: " + string(text)
	}
	return got.StatusCode, got.Header, string(text)
}

func never(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }

func TestTheOwnerAnswersAsIfItHadBeenAsked(t *testing.T) {
	d := &database{}
	a, _ := start(t, d, "a", never)
	start(t, d, "b", func(w http.ResponseWriter, r *http.Request) {
		p, _ := access.From(r.Context())
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("X-Own", "1")
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, "%s %s %s by %s (%s, for %v %v) %q %q %q %s", r.Method, r.URL.Path, r.URL.RawQuery, p.ID, p.Role, p.May("s"), p.May("other"),
			r.Header.Get("Authorization"), r.Header.Get("Cookie"), r.Header.Get("Tributary-Sender"), r.Header.Get("Traceparent")+" "+string(body))
	})
	d.owns("s", "b")
	if _, _, got := ask(t, a, "GET", "/passed", ""); got != "0 0\n" {
		t.Errorf("passed on before: %s", got)
	}
	status, header, got := ask(t, a, "POST", "/x/y?client=6", "a body")
	const want = `POST /x/y client=6 by ada (viewer, for true false) "" "" "" 00-1 a body`
	if status != http.StatusAccepted || got != want {
		t.Errorf("%d %s, want %s", status, got, want)
	}
	if v := header.Values("Cache-Control"); len(v) != 1 || v[0] != "no-cache" || header.Get("X-Own") != "1" {
		t.Errorf("headers: %v", header)
	}
	d.owns("s", "a")
	if _, _, got := ask(t, a, "POST", "/", "b"); got != "a itself: b" {
		t.Errorf("its own session: %s", got)
	}
	if _, _, got := ask(t, a, "GET", "/passed", ""); got != "1 0\n" {
		t.Errorf("passed on and without a whole answer: %s", got)
	}
	d.owns("s", "")
	if _, _, got := ask(t, a, "POST", "/", "c"); got != "a itself: c" {
		t.Errorf("a session of nobody: %s", got)
	}
}

func TestAStreamArrivesPieceByPiece(t *testing.T) {
	d := &database{}
	a, _ := start(t, d, "a", never)
	next, gone := make(chan bool, 8), make(chan error, 1)
	start(t, d, "b", func(w http.ResponseWriter, r *http.Request) {
		for range next {
			_, _ = io.WriteString(w, "word\n")
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
		gone <- r.Context().Err()
	})
	d.owns("s", "b")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	next <- true
	got, err := a.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	lines := bufio.NewReader(got.Body)
	for range 3 {
		if line, err := lines.ReadString('\n'); line != "word\n" {
			t.Fatalf("%q, %v", line, err)
		}
		next <- true
	}
	close(next)
	leave() // the owner learns that its reader has gone
	select {
	case <-gone:
	case <-time.After(10 * time.Second):
		t.Error("the owner serves a reader that has gone")
	}
}

func TestAWebSocketReachesTheOwner(t *testing.T) {
	d := &database{}
	a, _ := start(t, d, "a", never)
	start(t, d, "b", func(w http.ResponseWriter, r *http.Request) {
		conn, both, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+r.Header.Get("Upgrade")+"\r\n\r\n")
		line, _ := both.ReadString('\n')
		_, _ = io.WriteString(conn, "echo "+line)
	})
	d.owns("s", "b")
	conn, err := net.Dial("tcp", strings.TrimPrefix(a.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n")
	in := bufio.NewReader(conn)
	if status, _ := in.ReadString('\n'); !strings.Contains(status, "101") {
		t.Fatal(status)
	}
	_, _ = io.WriteString(conn, "hello\n")
	all, _ := io.ReadAll(in)
	if !strings.HasSuffix(string(all), "\r\n\r\necho hello\n") {
		t.Errorf("%q", all)
	}
}

func TestARequestFollowsTheSession(t *testing.T) {
	d := &database{}
	a, _ := start(t, d, "a", never)
	_, stopB := start(t, d, "b", never)
	start(t, d, "c", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "c: %s", body)
	})
	d.owns("s", "b")
	stopB()
	d.mu.Lock()
	d.gateways = append(d.gateways, eventlog.Gateway{ID: "b", Address: "127.0.0.1:1", Key: []byte("k")}) // its lease is not over
	d.mu.Unlock()
	go func() {
		time.Sleep(300 * time.Millisecond)
		d.owns("s", "c")
	}()
	if status, _, got := ask(t, a, "POST", "/", "a prompt"); got != "c: a prompt" {
		t.Errorf("the next owner: %d %s", status, got)
	}
	d.owns("s", "b")
	go func() {
		time.Sleep(300 * time.Millisecond)
		d.ends("b")
	}()
	if status, _, got := ask(t, a, "POST", "/", "another"); got != "a itself: another" {
		t.Errorf("nobody owns it any more: %d %s", status, got)
	}
}

func TestWhatWasReadOfARequestIsPassedOn(t *testing.T) {
	d := &database{}
	a, _ := start(t, d, "a", never)
	_, stop := start(t, d, "b", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "b: %s", body)
	})
	d.owns("s", "b")
	if _, _, got := ask(t, a, "POST", "/read", "a chat"); got != `b: {"read":"a chat"}` {
		t.Errorf("the owner: %s", got)
	}
	stop()
	d.mu.Lock()
	d.gateways = append(d.gateways, eventlog.Gateway{ID: "b", Address: "127.0.0.1:1", Key: []byte("k")})
	d.mu.Unlock()
	go func() {
		time.Sleep(300 * time.Millisecond)
		d.ends("b")
	}()
	if _, _, got := ask(t, a, "POST", "/read", "another"); got != "a itself: another" {
		t.Errorf("nobody owns it any more: %s", got)
	}
}

// slow is a body whose client takes too long.
type slow struct{}

func (slow) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

func TestABodyThatComesTooSlowlyIsRefusedAsEverywhere(t *testing.T) {
	d := &database{}
	n, err := cluster.New(cluster.Options{Store: view{d, "a"}})
	if err != nil {
		t.Fatal(err)
	}
	d.gateways = []eventlog.Gateway{{ID: "b", Address: "127.0.0.1:1", Key: []byte("k")}}
	d.owns("s", "b")
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", slow{})
	r.ContentLength = 10
	_, err = n.Forward(httptest.NewRecorder(), r, "s", cluster.Passing{})
	if refused, is := errors.AsType[*refusal.Error](err); !is || refused.Status != http.StatusRequestTimeout {
		t.Errorf("%v", err)
	}
}

func TestAnOwnerRefusesWhatItHasNotRead(t *testing.T) {
	// net/http waits half a second before it closes a connection with a body that was not read.
	t.Cleanup(func() { await(t, "end of the connections", func() bool { return goleak.Find() == nil }) })
	d := &database{}
	a, _ := start(t, d, "a", never)
	start(t, d, "b", never)
	d.owns("s", "b")
	large := strings.Repeat("a chat ", 1<<20)
	for range 5 {
		if status, _, _ := ask(t, a, "POST", "/read", large); status != http.StatusTeapot {
			t.Errorf("the answer: %d", status)
		}
	}
}

func TestAnOwnerThatCannotBeReachedIsNotAwaitedForEver(t *testing.T) {
	d := &database{gateways: []eventlog.Gateway{{ID: "b", Address: "127.0.0.1:1", Key: []byte("k")}}}
	a, _ := start(t, d, "a", never)
	d.owns("s", "b")
	if status, _, got := ask(t, a, "POST", "/", ""); status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", status, got)
	}
}

// Whether the owner has done it is not known, and a second time could be one too many.
func TestACommandIsNotRepeatedWhenItsOwnerEnds(t *testing.T) {
	d := &database{}
	a, _ := start(t, d, "a", never)
	var stop func()
	got := make(chan string, 2)
	_, stop = start(t, d, "b", func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- string(body)
		<-r.Context().Done()
	})
	d.owns("s", "b")
	go func() {
		got <- <-got + " once"
		stop()
	}()
	status, _, text := ask(t, a, "POST", "/", "stop")
	if status != http.StatusBadGateway || !strings.Contains(text, "look at the session") {
		t.Errorf("%d %s", status, text)
	}
	if did := <-got; did != "stop once" || len(got) != 0 {
		t.Errorf("the owner got %q and %d more", did, len(got))
	}
}

// A request that acts once goes to the next owner with the same key, or the gateway that was asked answers it.
func TestWhatActsOnceIsSentAgainWhenItsOwnerEnds(t *testing.T) {
	for _, path := range []string{"/once", "/read"} {
		d := &database{}
		a, _ := start(t, d, "a", never)
		keys, stops := make(chan string, 3), map[string]func(){}
		for _, id := range []string{"b", "c"} {
			_, stops[id] = start(t, d, id, func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.ReadAll(r.Body)
				keys <- r.Header.Get(cluster.KeyHeader)
				<-r.Context().Done()
			})
		}
		d.owns("s", "b")
		seen := make(chan string, 2)
		go func() {
			seen <- <-keys
			d.owns("s", "c")
			stops["b"]()
			seen <- <-keys
			stops["c"]()
		}()
		status, _, text := ask(t, a, "POST", path, "a prompt")
		if status != http.StatusOK || text != "a itself: a prompt" {
			t.Fatalf("%s: %d %s", path, status, text)
		}
		if one, two := <-seen, <-seen; one == "" || one != two {
			t.Errorf("%s: the keys are %q and %q", path, one, two)
		}
	}
}

func TestAStreamOfAGatewayThatStandsStillIsCut(t *testing.T) {
	d := &database{}
	a, _ := start(t, d, "a", never)
	start(t, d, "b", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "word")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	d.owns("s", "b")
	go func() {
		time.Sleep(50 * time.Millisecond)
		d.ends("b") // its lease is over, and its connections are open
	}()
	if status, _, got := ask(t, a, "GET", "/", ""); status != http.StatusOK || got != "cut: word" {
		t.Errorf("%d %s", status, got)
	}
	if _, _, got := ask(t, a, "GET", "/passed", ""); got != "1 1\n" {
		t.Errorf("passed on and without a whole answer: %s", got)
	}
}

func TestOnlyGatewaysOfTheDatabaseTalkWithOneAnother(t *testing.T) {
	d := &database{}
	a, _ := start(t, d, "a", never)
	reached := false
	start(t, d, "b", func(http.ResponseWriter, *http.Request) { reached = true })
	d.owns("s", "b")
	d.mu.Lock()
	at := &d.gateways[1]
	key, address := at.Key, at.Address
	at.Key = []byte("of another one")
	d.mu.Unlock()
	if status, _, got := ask(t, a, "POST", "/", "secret"); status != http.StatusServiceUnavailable || reached {
		t.Errorf("a sends a request to a gateway with another key: %d %s", status, got)
	}
	d.mu.Lock()
	at.Key = key
	d.gateways[0].Key = []byte("of another one") // a is a stranger now
	d.mu.Unlock()
	if status, _, got := ask(t, a, "POST", "/", "x"); status < http.StatusInternalServerError || reached {
		t.Errorf("b takes a request of a stranger: %d %s", status, got)
	}
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // a stranger does not care
	if err == nil {
		_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nTributary-Sender: e30=\r\n\r\n")
		if _, failed := conn.Read(make([]byte, 1)); err == nil {
			err = failed
		}
		_ = conn.Close()
	}
	if err == nil || reached {
		t.Error("b answers who has no key")
	}
}

func TestARequestIsPassedOnOnce(t *testing.T) {
	d := &database{}
	a, _ := start(t, d, "a", never)
	asked := 0
	start(t, d, "b", func(http.ResponseWriter, *http.Request) { asked++ })
	d.owns("s", "b")
	wrong := d.gateways[1]
	wrong.ID = "c" // b gets what is for c, and refuses it: it is not the owner
	d.gateways = append(d.gateways, wrong)
	d.owns("s", "c")
	if status, _, got := ask(t, a, "POST", "/", ""); status != http.StatusServiceUnavailable || asked != 0 {
		t.Errorf("%d %s, %d times", status, got, asked)
	}
}

// A session without an owner goes to the gateway that has its agent's memory, if that runs.
func TestASessionWithoutAnOwnerGoesHome(t *testing.T) {
	d := &database{}
	a, _ := start(t, d, "a", never)
	_, stop := start(t, d, "b", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "b as home") })
	for _, c := range []struct {
		home, owner, want string
	}{
		{"", "", "a itself: "},
		{"b", "", "b as home"},
		{"b", "a", "a itself: "},
		{"a", "", "a itself: "},
		{"c", "", "a itself: "},
	} {
		d.owns("s", c.owner)
		d.mu.Lock()
		d.home = c.home
		d.mu.Unlock()
		if _, _, text := ask(t, a, "GET", "/", ""); text != c.want {
			t.Errorf("at home on %q, owned by %q: %q, want %q", c.home, c.owner, text, c.want)
		}
	}
	stop()
	d.owns("s", "")
	d.mu.Lock()
	d.home = "b"
	d.mu.Unlock()
	if _, _, text := ask(t, a, "GET", "/", ""); text != "a itself: " {
		t.Errorf("when its home has ended: %q", text)
	}
}
