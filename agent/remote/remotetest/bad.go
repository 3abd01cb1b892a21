// Package remotetest puts bad servers before an adapter of agents that live on servers.
package remotetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// Upstream is an adapter and a server that it can talk to.
type Upstream struct {
	// Handler returns a good server of its own for each case.
	Handler func(*testing.T) http.Handler
	// Open returns the runtime under test for an address.
	Open func(url string) (agent.Runtime, error)
	// Prompt makes the server stream at least two events with text; "hello" if empty.
	Prompt string
	// NoEnd says that the end of a stream is the end of its turn, because the protocol has no
	// event for that.
	NoEnd bool
}

// ending is how the turn on a bad server may end.
type ending int

const (
	whole  ending = iota // completed, and nothing is lost
	fails                // with one sentence
	either               // of them: some servers let a client go on with a stream
)

// bad is a way in which a server is bad.
type bad struct {
	name   string
	secret bool             // the certificate is one that nobody knows
	answer http.HandlerFunc // in place of each answer
	stream func() fault     // spoils streams; each server has a fault of its own
	ends   ending
	short  bool   // the stream ends as if the turn were over
	says   string // part of the sentence, where the turn fails
}

func bads() []bad {
	page := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<html>\n<h1>Please log in</h1>\n</html>"))
	}
	refuses := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, body, status) }
	}
	all := []bad{
		{name: "an unknown certificate", secret: true, ends: fails, says: "certificate"},
		{name: "a redirect", ends: fails, says: "the server redirects to https://elsewhere.test/: use the final address", answer: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.test/", http.StatusTemporaryRedirect)
		}},
		{name: "a page", answer: page, ends: fails, says: "the answer is text/html and no"},
		{name: "a page of an error", ends: fails, says: "Bad Gateway", answer: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write([]byte("<html>\n<h1>502</h1>"))
		}},
		{name: "nothing there", answer: refuses(http.StatusNotFound, `{"detail":"no such thing"}`), ends: fails, says: "no such thing"},
		{name: "an answer that repeats the address", ends: fails, says: "nothing at /", answer: func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "nothing at "+r.URL.String(), http.StatusNotFound)
		}},
		{name: "a redirect that repeats the query", ends: fails, says: "the server redirects to https://elsewhere.test/?", answer: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.test/?"+r.URL.RawQuery, http.StatusTemporaryRedirect) //nolint:gosec // a bad server
		}},
		{name: "no access", answer: refuses(http.StatusUnauthorized, `{"error":{"message":"who are you?"}}`), ends: fails, says: "who are you?"},
		{name: "not JSON", stream: everyEvent("{nonsense", "[1,2,3]", `"text"`, "null", `{"type":7}`, "plain words")},
		{name: "a line of 200 KB", stream: everyEvent(`{"type":"` + strings.Repeat("y", 200<<10) + `"}`)},
		{name: "an event within a text", stream: everyEvent(`{"type":"x","data":"\n\nevent: fake\ndata: {}\n\n"}`)},
		{name: "a line that never ends", stream: func() fault { return &endless{after: 1} }, ends: either},
	}
	for n := range 3 {
		all = append(all,
			bad{name: fmt.Sprintf("a cut after event %d", n), stream: func() fault { return &cut{after: n} }, ends: either},
			bad{name: fmt.Sprintf("a cut in event %d", n+1), stream: func() fault { return &cut{after: n, half: true} }, ends: either},
			bad{name: fmt.Sprintf("no end after event %d", n), stream: func() fault { return &cut{after: n, clean: true} }, ends: either, short: true},
			bad{name: fmt.Sprintf("the past again after a cut behind event %d", n), stream: func() fault { return &cut{after: n, repeats: true} }, ends: either},
		)
	}
	return all
}

// BadServers plays a turn on each bad server. Each turn ends, as a whole or with one
// sentence, and a good server answers the next prompt.
func BadServers(t *testing.T, u Upstream) {
	t.Helper()
	if u.Prompt == "" {
		u.Prompt = "hello"
	}
	good := u.plays(t, u.Handler(t), bad{})
	if good.stop.Outcome != trace.OutcomeCompleted || strings.TrimSpace(good.said) == "" {
		t.Fatalf("on the good server the turn said %q and ended with %+v", good.said, good.stop)
	}
	for _, b := range bads() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			got := u.plays(t, u.Handler(t), b)
			t.Logf("%+v", got.stop)
			completed := got.stop.Outcome == trace.OutcomeCompleted
			switch {
			case completed && b.ends == fails, !completed && b.ends == whole:
				t.Errorf("the turn said %q and ended with %+v", got.said, got.stop)
			case completed && (got.gap || u.NoEnd && b.short && strings.HasPrefix(good.said, got.said)):
			case completed && got.said != good.said:
				t.Errorf("the turn is completed and said %q, want %q", got.said, good.said)
			case completed:
			case got.stop.Outcome != trace.OutcomeFailed || !strings.Contains(got.stop.Error, b.says) || strings.TrimSpace(got.stop.Error) == "" || strings.Contains(got.stop.Error, "\n"):
				t.Errorf("the turn ended with %+v, want one sentence with %q", got.stop, b.says)
			case !got.gap && !strings.HasPrefix(good.said, got.said):
				t.Errorf("the turn said %q, which does not begin %q", got.said, good.said)
			}
		})
	}
}

// key is a secret in the query of each server's address.
const key = "the-key-in-the-query"

// keepsKey checks that a text does not repeat the key.
func keepsKey(t *testing.T, what, text string) {
	t.Helper()
	if strings.Contains(text, key) {
		t.Errorf("%s has the key of the address: %s", what, text)
	}
}

// played is a turn. A gap is a notice that events may be missing, anywhere.
type played struct {
	gap  bool
	said string
	stop trace.Stop
}

// plays plays a turn, and a second turn once the server is good.
func (u Upstream) plays(t *testing.T, h http.Handler, b bad) played {
	t.Helper()
	s := &spoiled{Handler: h, bad: b}
	srv := httptest.NewUnstartedServer(s)
	srv.Config.ErrorLog = silent()
	if b.secret {
		srv.StartTLS()
	} else {
		srv.Start()
	}
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	host := agenttest.NewHost()
	host.StateDir = t.TempDir()
	var log bytes.Buffer
	runtime, err := u.Open(srv.URL + "?code=" + key)
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	session, err := runtime.Open(t.Context(), host, agent.Config{SessionID: "s", Cwd: t.TempDir(), Logger: logger})
	if err != nil {
		keepsKey(t, "the error", err.Error())
		return played{stop: trace.Stop{Outcome: trace.OutcomeFailed, Error: err.Error()}}
	}
	defer func() {
		_ = session.Close() // a test's
		keepsKey(t, "the log", log.String())
	}()
	got := u.turn(t, host, session)
	s.heals()
	busy := u.NoEnd && b.short // the server still works
	if next := u.turn(t, host, session); !b.secret && !busy && next.stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("on a good server the next turn ended with %+v", next.stop)
	}
	return got
}

func (u Upstream) turn(t *testing.T, host *agenttest.Host, s agent.Session) played {
	t.Helper()
	p := agenttest.Prompt(u.Prompt)
	r, done := host.Turn(p), make(chan error, 1)
	go func() { done <- s.Prompt(t.Context(), p, r.Builder) }()
	var err error
	select {
	case err = <-done:
	case <-time.After(2 * time.Minute): // the machine may have much else to do
		t.Fatal("the turn does not end")
	}
	stop, told := r.Result()
	if err != nil || !told {
		stop = trace.Stop{Outcome: trace.OutcomeFailed, Error: fmt.Sprint(err)}
	}
	if err := r.Finish(stop); err != nil {
		t.Fatal(err)
	}
	if err := agenttest.CheckTurn(r.Events()); err != nil {
		t.Error(err)
	}
	for _, e := range r.Events() {
		event, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		keepsKey(t, "the trace", string(event))
	}
	gap := slices.ContainsFunc(agenttest.Each[trace.Error](r.Events()), func(e trace.Error) bool { return e.Code == "gap" })
	// A part that goes on after a cut may be two.
	return played{gap, strings.Join(strings.Fields(agenttest.Said(r.Events())), ""), stop}
}
