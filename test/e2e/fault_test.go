//go:build linux

package e2e

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
)

// A turn that a faulty agent breaks ends with a clear error, in the stream and in the history. The
// next turn of the session works.
func TestAgentThatFailsInATurn(t *testing.T) {
	t.Parallel()
	f := newFakes(t, "idle_limit: 5s, stop_patience: 1s") // enough for one that behaves well, on whatever machine
	p := start(t, t.TempDir(), os.Environ(), "--config", f.config)
	for does, says := range map[string]string{
		"dies":         "Segmentation fault",
		"half a line":  "",
		"garbage":      "", // is stepped over
		"says nothing": "",
		"hangs":        "The agent said nothing for 5s, so the turn was ended.",
		"is stubborn":  "The agent said nothing for 5s, so the turn was ended.",
	} {
		t.Run(does, func(t *testing.T) {
			t.Parallel()
			s := p.chat(does, does, nil)
			if !s.done {
				t.Errorf("the stream has no end: %v", s.types)
			}
			history := p.history(does)
			last := history[len(history)-1]
			failed := last.Metadata["outcome"] == "failed"
			if failed == (does == "garbage") {
				t.Errorf("metadata %v, parts %v", last.Metadata, last.Parts)
			}
			if said := errorOf(last); !strings.Contains(said, says) || failed && len(said) < 10 {
				t.Errorf("the history says %q, it should say %q", said, says)
			}
			if again := p.chat(does, "behaves well", nil); !again.done || again.text != "half a sentence" {
				later := p.history(does)
				t.Errorf("the next turn: %q %v %q", again.text, again.types, errorOf(later[len(later)-1]))
			}
		})
	}
	t.Cleanup(func() {
		p.end()
		if n := f.gone(t); n < 6 {
			t.Errorf("only %d agents ran", n)
		}
	})
}

// errorOf is the sentence with which a message ends.
func errorOf(m message) string {
	end := m.Parts[len(m.Parts)-1]
	if end["type"] != "data-error" {
		return ""
	}
	data, _ := end["data"].(map[string]any)
	said, _ := data["message"].(string)
	return said
}

// An agent that cannot start says why, every time, and holds nobody up.
func TestAgentThatCannotStart(t *testing.T) {
	t.Parallel()
	f := newFakes(t, "idle_limit: 5s") // enough for one that ends at once, on whatever machine
	p := start(t, t.TempDir(), os.Environ(), "--config", f.config)
	for agent, says := range map[string]string{
		"missing":  "/no/such/agent",
		"crashing": "exit status 7: Error: the config file is broken",
		"leaving":  "it ended before it was ready: exit status 0",
		"mute":     "the agent did not become ready within 5s",
	} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			res := p.request(t.Context(), http.MethodPost, "/api/sessions", map[string]any{"id": agent, "agent": agent})
			_ = res.Body.Close()
			for range 2 {
				if s := p.chat(agent, "hello", nil); !s.done {
					t.Errorf("the stream has no end: %v", s.types)
				}
			}
			history := p.history(agent)
			if said := errorOf(history[len(history)-1]); len(history) != 4 || !strings.Contains(said, says) {
				t.Errorf("%d messages, the last says %q, it should say %q", len(history), said, says)
			}
		})
	}
	t.Cleanup(func() {
		p.end()
		f.gone(t)
	})
}

// The gateway kills an agent that ignores SIGTERM, with all processes that the agent has started,
// when a user stops the turn and when the gateway ends.
//
//evidence:for promise-disconnect
func TestAgentThatIgnoresSIGTERM(t *testing.T) {
	t.Parallel()
	f := newFakes(t, "stop_patience: 500ms")
	p := start(t, t.TempDir(), os.Environ(), "--config", f.config)
	p.chat("stopped", "is stubborn", func(s *stream) bool { return s.text != "" })
	res := p.request(t.Context(), http.MethodPost, "/api/chat/stopped/stop", map[string]any{})
	_ = res.Body.Close()
	// The session waits for the old agent's end and has a new one.
	if again := p.chat("stopped", "behaves well", nil); again.text != "half a sentence" {
		t.Errorf("the next turn: %q %v", again.text, again.types)
	}
	p.chat("running", "is stubborn", func(s *stream) bool { return s.text != "" })
	p.kill() // the next gateway finds the agent of the running turn, and its child
	p = start(t, p.data, os.Environ(), "--config", f.config)
	p.end()
	if n := f.gone(t); n < 5 {
		t.Errorf("only %d processes ran", n)
	}
}

// An agent that says 100 MB, in whatever way, costs the gateway a bounded part of
// that in memory, and other sessions nothing.
//
//evidence:for limit-output
func TestAgentThatSpams(t *testing.T) {
	t.Parallel()
	f := newFakes(t, "idle_limit: 30s")
	p := start(t, t.TempDir(), os.Environ(), "--config", f.config)
	res := p.request(t.Context(), http.MethodPost, "/api/sessions", map[string]any{"id": "quiet", "agent": "demo"})
	_ = res.Body.Close()
	for _, does := range []string{"spams noise", "spams a line", "spams output", "spams words"} {
		read := make(chan string, 1)
		res := p.request(t.Context(), http.MethodPost, "/api/chat", prompt(does, does))
		go func() {
			defer res.Body.Close()
			read <- lastLine(res.Body)
		}()
		if quiet := p.chat("quiet", "hello", nil); !quiet.done || !strings.Contains(quiet.text, "demo agent") {
			t.Errorf("%s: a turn beside it: %q", does, quiet.text)
		}
		if last := <-read; last != "data: [DONE]" {
			t.Errorf("%s: its stream ends with %.100q", does, last)
		}
		if peak := p.peak(t); peak > mostMemory {
			t.Errorf("%s: the gateway took %d MB", does, peak>>20)
		} else {
			t.Logf("%s: %d MB at most so far", does, peak>>20)
		}
	}
	p.end()
	f.gone(t)
}

// An agent whose call has an input without end, or whose message has millions of items, costs
// no more, and its turn says why it ended.
//
//evidence:for limit-event limit-values
func TestAgentThatSpamsInput(t *testing.T) {
	t.Parallel()
	f := newFakes(t, "idle_limit: 30s")
	p := start(t, t.TempDir(), os.Environ(), "--config", f.config)
	for does, want := range map[string]string{"spams input": "more than 32 MB in one piece", "spams items": "more than 262144 JSON values"} {
		status, end := p.send(t.Context(), p.Token(), http.MethodPost, "/api/chat", submit(does, "u", does))
		if status != http.StatusOK || !strings.Contains(end, want) {
			t.Errorf("%s: %d %s", does, status, end)
		}
	}
	if peak := p.peak(t); peak > mostMemory {
		t.Errorf("the gateway took %d MB", peak>>20)
	} else {
		t.Logf("%d MB at most", peak>>20)
	}
	p.end()
	f.gone(t)
}

// mostMemory is what the gateway may take while an agent spams: a record of 32 MB,
// which is the largest there is, is in memory several times on its way.
const mostMemory = 1 << 30

// lastLine is the last line of a stream that says anything.
func lastLine(r io.Reader) string {
	last := ""
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			last = line
		}
		if err != nil {
			return last
		}
	}
}

// peak is the most memory that the gateway had, in bytes.
func (p *process) peak(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatal("the kernel does not say how much memory the gateway had")
	return 0
}
