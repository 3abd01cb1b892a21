//go:build linux

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent/agenttest"
)

// otherToken is the token of another person than the owner of the gateway.
const otherToken = "other-token-of-the-end-to-end-tests"

// twoPeople is a configuration in which somebody else has a role beside the owner.
func twoPeople(t *testing.T, role string) (config string, env []string) {
	t.Helper()
	config = filepath.Join(t.TempDir(), "tributary.yaml")
	text := "default_agent: demo\nauth:\n  tokens:\n" +
		"    - {name: other, role: " + role + ", token_env: E2E_OTHER}\n" +
		"agents:\n  demo: {options: {pace: 1ms}}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config, append(os.Environ(), "E2E_OTHER="+otherToken)
}

// send sends a request with somebody's token, and returns the status and the end of the answer.
// A status of 0 says that there was no whole answer.
func (p *process) send(ctx context.Context, token, method, path string, body []byte) (status int, end string) {
	req, err := http.NewRequestWithContext(ctx, method, p.Base()+path, bytes.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	last := &ending{}
	if _, err := io.Copy(last, res.Body); err != nil {
		return 0, fmt.Sprintf("%s, then %v", res.Status, err)
	}
	return res.StatusCode, string(last.text)
}

// ending keeps the end of what is written to it.
type ending struct{ text []byte }

func (e *ending) Write(p []byte) (int, error) {
	const most = 1000
	e.text = append(e.text, p[max(0, len(p)-most):]...)
	e.text = e.text[max(0, len(e.text)-most):]
	return len(p), nil
}

// submit is the body of a prompt.
func submit(session, message, text string) []byte {
	return fmt.Appendf(nil, `{"id":%q,"trigger":"submit-message","messages":[{"id":%q,"role":"user","parts":[{"type":"text","text":"%s"}]}]}`, session, message, text)
}

// ordinary is the owner, who reads a history and prompts in turn, until the context ends or it was
// enough. Each request must be answered well within the limit.
func (p *process) ordinary(ctx context.Context, limit time.Duration, enough func(requests int) bool) (requests int, slowest time.Duration) {
	for i := 0; ctx.Err() == nil && !enough(requests); i++ {
		for _, do := range []func() (int, string){
			func() (int, string) {
				return p.send(p.t.Context(), p.Token(), "POST", "/api/chat", submit("small", fmt.Sprint("m", i), "hello"))
			},
			func() (int, string) {
				return p.send(p.t.Context(), p.Token(), "GET", "/api/sessions/small/messages?limit=2", nil)
			},
		} {
			began := time.Now()
			status, end := do()
			took := time.Since(began)
			requests, slowest = requests+1, max(slowest, took)
			if status != http.StatusOK || took > limit {
				p.t.Errorf("request %d of the owner took %s: %d %s", requests, took, status, end)
				return requests, slowest
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return requests, slowest
}

// However many traces a viewer reads at a time, and however often they come back, the owner's
// requests are answered in time. The traces have 20 MB, and 60 MB with TRIBUTARY_TEST_FULL=1.
//
//evidence:for limit-downloads
func TestAViewerWhoReadsLargeTracesSlowsNobody(t *testing.T) {
	t.Cleanup(postgres.Stop) // what it still writes would slow the tests behind this one
	const within = 8 * time.Second
	viewers, turns := 60, 1
	if agenttest.Full() {
		viewers, turns = 300, 3
	}
	config, env := twoPeople(t, "viewer")
	p := start(t, t.TempDir(), env, "--config", config)
	defer p.end()
	large := strings.Repeat("x", 20<<20)
	for i := range turns {
		if status, end := p.send(t.Context(), p.Token(), "POST", "/api/chat", submit("big", fmt.Sprint("u", i), "hello "+large)); status != http.StatusOK {
			t.Fatalf("%d %s", status, end)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), 15*time.Second)
	defer stop()
	var all sync.WaitGroup
	var whole, refused atomic.Int64
	for range viewers {
		all.Go(func() {
			for ctx.Err() == nil {
				switch status, _ := p.send(ctx, otherToken, "GET", "/api/sessions/big/trace?deltas=1", nil); status {
				case http.StatusOK:
					whole.Add(1)
				case http.StatusTooManyRequests:
					refused.Add(1)
					time.Sleep(100 * time.Millisecond)
				}
			}
		})
	}
	requests, slowest := p.ordinary(ctx, within, func(requests int) bool {
		return !agenttest.Full() && requests >= 20 && whole.Load() >= 8
	})
	stop()
	all.Wait()
	t.Logf("%d requests of the owner, the slowest took %s; the viewer got %d traces and %d refusals; %d MB at the most",
		requests, slowest, whole.Load(), refused.Load(), p.peak(t)>>20)
	if requests < 10 {
		t.Errorf("the owner was answered %d times", requests)
	}
}

// A gateway that may take 1 GB takes one large message after another, and several at a time,
// and serves everybody else meanwhile. Twice as many come at a time as it reads, and three times with
// TRIBUTARY_TEST_FULL=1.
//
//evidence:for limit-large-prompts
func TestLargePromptsLeaveNoMemoryBehind(t *testing.T) {
	t.Cleanup(postgres.Stop) // what it still writes would slow the tests behind this one
	const bound, within = 1 << 30, 30 * time.Second
	config, env := twoPeople(t, "collaborator")
	env = append(env, "GOMEMLIMIT=768MiB") // as in a control group of 1 GB
	large := "hello " + strings.Repeat("x", 31<<20)
	many := 8
	if agenttest.Full() {
		many = 12
	}
	for name, c := range map[string]struct {
		prompts, together int
		session           func(i int) string
	}{
		"each to a new session": {many, 1, func(i int) string { return fmt.Sprint("new", i) }},
		"all in one session":    {many, 1, func(int) string { return "one" }},
		"many at the same time": {many, many, func(i int) string { return fmt.Sprint("beside", i) }},
	} {
		t.Run(name, func(t *testing.T) {
			if c.together == 1 && !agenttest.Full() {
				t.Skip("TRIBUTARY_TEST_FULL=1 runs it: the same memory, one message after another")
			}
			p := start(t, t.TempDir(), env, "--config", config)
			defer p.end()
			ctx, stop := context.WithCancel(t.Context())
			var beside, senders sync.WaitGroup
			beside.Go(func() {
				requests, slowest := p.ordinary(ctx, within, func(int) bool { return false })
				t.Logf("%d requests of the owner, the slowest took %s", requests, slowest)
			})
			numbers := make(chan int)
			var taken, refused atomic.Int64
			for range c.together {
				senders.Go(func() {
					for i := range numbers {
						switch status, end := p.send(t.Context(), otherToken, "POST", "/api/chat", submit(c.session(i), fmt.Sprint("u", i), large)); {
						case status == http.StatusOK && strings.Contains(end, "[DONE]"):
							taken.Add(1)
						case status == http.StatusTooManyRequests && strings.Contains(strings.ToLower(end), "large messages"):
							refused.Add(1)
						default:
							t.Errorf("prompt %d: %d %s", i, status, end)
						}
					}
				})
			}
			for i := range c.prompts {
				numbers <- i
			}
			close(numbers)
			senders.Wait()
			stop()
			beside.Wait()
			peak := p.peak(t)
			t.Logf("%d prompts were taken, %d refused; %d MB at the most", taken.Load(), refused.Load(), peak>>20)
			if peak > bound || taken.Load() < 4 || c.together == 1 && refused.Load() > 0 {
				t.Errorf("%d prompts were taken, %d refused, with %d MB", taken.Load(), refused.Load(), peak>>20)
			}
		})
	}
}
