package cli

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/faultnet"
	"github.com/tributary-dev/tributary/internal/testkit/pgtest"
)

// beats is an agent that writes a byte into a file again and again.
type beats struct {
	t      *testing.T
	dir    string
	script string
}

func (b beats) config() string {
	return file(b.t, "tributary.yaml", fmt.Sprintf("cluster: {listen: \"127.0.0.1:0\"}\nsessions: {on_disconnect: detach}\nagents: {counts: {adapter: command, command: sh, cwd: %s, state: shared, box: {form: off}, args: [-c, '%s']}}\n", b.dir, b.script))
}

func (b beats) n() int64 {
	if f, err := os.Stat(filepath.Join(b.dir, "beats")); err == nil {
		return f.Size()
	}
	return 0
}

func (b beats) wait(what string, holds func() bool) {
	b.t.Helper()
	for until := time.Now().Add(time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			b.t.Fatal("in vain: " + what)
		}
	}
}

// stand waits until the agent stands still, which it does before the end of a lease of 15 s.
func (b beats) stand() (stood int64) {
	b.t.Helper()
	began := time.Now()
	b.wait("the agent stands still", func() bool {
		stood = b.n()
		time.Sleep(time.Second)
		return b.n() == stood
	})
	if after := time.Since(began); after < 10*time.Second || after > 17*time.Second {
		b.t.Errorf("the agent stood still after %s", after)
	}
	return stood
}

// PostgreSQL is away for longer than a lease. A turn of an agent that is a program stands still meanwhile, and then goes on to its end.
//
//evidence:for promise-cluster
func TestAnOutageOfPostgreSQLEndsNoTurn(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for the end of a lease")
	}
	t.Parallel()
	var server pgtest.Server
	t.Cleanup(server.Stop)
	agent := beats{t, t.TempDir(), "for i in $(seq 160); do echo $i; echo >>beats; sleep 0.1; done"}
	s := startServer(t, t.TempDir(), "--config", agent.config(), "--db", server.Database(t), "--agent", "counts")
	answer := make(chan string, 1)
	go func() {
		_, stream := s.do("POST", "/api/chat", chat("s", "count"))
		answer <- stream
	}()
	agent.wait("the agent works", func() bool { return agent.n() > 5 })
	server.Kill()
	away := time.Now()
	stood := agent.stand()
	agent.wait("the end of the lease", func() bool { return time.Since(away) > 17*time.Second })
	if n := agent.n(); n != stood {
		t.Errorf("the agent went on: %d, before %d", n, stood)
	}
	server.Start(t)
	stream := <-answer
	for _, word := range []string{"1", "80", "160"} {
		if strings.Count(stream, `\n`+word+`\n`)+strings.Count(stream, `"`+word+`\n`) != 1 {
			t.Errorf("the answer does not have %s once", word)
		}
	}
	if !strings.Contains(stream, `"type":"finish"`) || strings.Contains(stream, `"type":"error"`) {
		t.Errorf("the answer ends with %q", stream[max(0, len(stream)-500):])
	}
	if status, trace := s.do("GET", "/api/sessions/s/trace", ""); status != http.StatusOK || !strings.Contains(trace, `"outcome":"completed"`) {
		t.Errorf("%d %s", status, trace[max(0, len(trace)-500):])
	}
}

// A gateway that was cut off from the database learns that another one has taken a session. Its agent there does nothing more.
//
//evidence:for promise-cluster
func TestAnAgentWhoseSessionWasTakenDoesNothingMore(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for the end of a lease")
	}
	t.Parallel()
	direct, err := url.Parse(postgres.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	p, err := faultnet.New(t.Context(), direct.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	held := *direct
	held.Host = p.Addr()
	agent := beats{t, t.TempDir(), "while echo >>beats; do sleep 0.001; done"}
	first := startServer(t, t.TempDir(), "--config", agent.config(), "--db", held.String(), "--agent", "counts")
	res := first.request("POST", "/api/chat", chat("s", "count"))
	defer res.Body.Close()
	agent.wait("the agent works", func() bool { return agent.n() > 5 })
	second := startServer(t, t.TempDir(), "--config", agent.config(), "--db", direct.String(), "--agent", "counts")
	p.Hold(true, true)
	stood := agent.stand()
	agent.wait("the other gateway has the session", func() bool {
		status, _ := second.do("PATCH", "/api/sessions/s", `{"title":"taken"}`)
		return status == http.StatusOK
	})
	p.Hold(false, false)
	first.has("the turn is over", "/api/sessions/s", `"state":"idle"`)
	agent.wait("the gateway has let the others go on", func() bool { return strings.Contains(first.errors.String(), "agents go on") })
	if n := agent.n(); n != stood {
		t.Errorf("the agent went on: %d, before %d", n, stood)
	}
}
