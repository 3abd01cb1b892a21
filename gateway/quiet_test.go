package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// keen is an agent that fails in the user's own words, as some do, and remembers
// what the caller brought along.
type keen struct{ heard *[]agent.Caller }

func (k keen) Open(_ context.Context, _ agent.Host, _ agent.Config) (agent.Session, error) {
	return k, nil
}

func (k keen) Prompt(_ context.Context, p agent.Prompt, b *trace.Builder) error {
	*k.heard = append(*k.heard, p.Caller)
	b.End(trace.Stop{Outcome: trace.OutcomeFailed, Reason: "could not do: " + p.Text(), Error: "I do not understand " + p.Text()})
	return nil
}

func (keen) Close() error { return nil }

const (
	markedPrompt = "PROMPT-9f3e"
	markedToken  = "TOKEN-51cc"
	traceID      = "4bf92f3577b34da6a3ce929d0e0e4736"
	parent       = "00-" + traceID + "-00f067aa0ba902b7-01"
)

// logged runs requests through a gateway that logs everything, and returns what it
// logged, line by line.
func logged(t *testing.T, do func(p *pipes), heard *[]agent.Caller) (lines []map[string]any, all string) {
	t.Helper()
	var out bytes.Buffer // read when all is over
	logger := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	p, end := newPipes(t, func(o *session.Options) {
		o.Logger = logger
		o.Agents["demo"] = session.Agent{Runtime: demo.Runtime{Pace: 10 * time.Millisecond}, Cwd: t.TempDir(), Policy: permission.Default()}
		o.Agents["far"] = session.Agent{Runtime: far{}, Cwd: t.TempDir()}
		o.Agents["keen"] = session.Agent{Runtime: keen{heard}, Cwd: t.TempDir()}
	}, func(o *gateway.Options) { o.Logger = logger })
	do(p)
	end()
	all = out.String()
	for s := bufio.NewScanner(&out); s.Scan(); {
		var line map[string]any
		if err := json.Unmarshal(s.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, s.Text())
		}
		lines = append(lines, line)
	}
	return lines, all
}

// bearing posts a prompt with a token and a trace context.
func bearing(path, body string) string {
	return strings.Replace(post(path, body), "\r\n\r\n", "\r\nAuthorization: Bearer "+markedToken+"\r\nCookie: tributary="+markedToken+
		"\r\nTraceparent: "+parent+"\r\n\r\n", 1)
}

// Everything that goes wrong in a turn goes wrong here, with every word of the log
// kept: neither what was said nor what somebody showed at the door is in it.
//
//evidence:for ops-log
func TestTheLogHoldsNoPromptAndNoToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []agent.Caller
		lines, all := logged(t, func(p *pipes) {
			for path, want := range map[string]int{
				"/api/chat?agent=demo&token=" + markedToken: http.StatusOK,
				"/api/chat?agent=keen":                      http.StatusOK, // fails in the user's words
				"/api/chat?agent=far":                       http.StatusOK, // is silent for too long
				"/api/chat?agent=" + markedPrompt:           http.StatusBadRequest,
				"/api/sessions/nowhere/chat":                http.StatusNotFound,
			} {
				if status, body := p.ask(bearing(path, submit("c-"+find(path, "agent=(....)"), "u1", markedPrompt))); status != want {
					t.Errorf("%s: %d %s", path, status, body)
				}
			}
			stuck := p.send(bearing("/api/chat", submit("c-stuck", "u1", "slow "+markedPrompt)))
			time.Sleep(time.Minute)
			_ = stuck.Close()
			if status, body := p.ask(bearing("/api/chat/c-demo/stop", `{"turn":"`+markedPrompt+`"}`)); status != http.StatusOK {
				t.Errorf("%d %s", status, body)
			}
		}, &heard)
		if strings.Contains(all, markedPrompt) || strings.Contains(all, markedToken) {
			t.Errorf("the log holds what it must not:\n%s", all)
		}
		if len(lines) < 5 {
			t.Errorf("the log holds nothing at all:\n%s", all)
		}
	})
}

// A line about a turn can be found by any of what it is looked for by.
//
//evidence:for ops-log-lines
func TestLinesAboutATurnSayWhichAndWhose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []agent.Caller
		lines, all := logged(t, func(p *pipes) {
			_, _ = p.ask(bearing("/api/chat?agent=keen", submit("c1", "u1", "hello")))
			_, _ = p.ask(bearing("/api/chat?agent=far", submit("c2", "u1", "hello")))
			stopped := p.send(bearing("/api/chat", submit("c3", "u1", "slow")))
			synctest.Wait()
			_, _ = p.ask(post("/api/chat/c3/stop", "{}"))
			_ = stopped.Close()
			stuck := p.send(bearing("/api/chat", submit("c4", "u1", "slow")))
			time.Sleep(time.Minute)
			_ = stuck.Close()
		}, &heard)
		seen := map[string]bool{}
		for _, line := range lines {
			_, turn := line["turn"]
			_, session := line["session"]
			if !turn {
				if session && strings.Contains(line["msg"].(string), "turn") {
					t.Errorf("it is about a turn and does not say which: %v", line)
				}
				continue
			}
			seen[line["msg"].(string)] = true
			for _, key := range []string{"session", "turn", "agent", "by"} {
				if s, _ := line[key].(string); s == "" {
					t.Errorf("%q is missing: %v", key, line)
				}
			}
			if line["trace_id"] != traceID {
				t.Errorf("trace_id is %v: %v", line["trace_id"], line)
			}
		}
		for _, what := range []string{"turn began", "turn ended", "turn stopped", "stream was cut"} {
			if !seen[what] {
				t.Errorf("no line says %q:\n%s", what, all)
			}
		}
	})
}

// The trace context of a request is the agent's; one that is not well-formed is
// nobody's.
//
//evidence:for ops-trace-context
func TestTheTraceContextTravelsToTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []agent.Caller
		lines, all := logged(t, func(p *pipes) {
			_, _ = p.ask(bearing("/api/chat?agent=keen", submit("c1", "u1", "hello")))
			_, _ = p.ask(strings.Replace(bearing("/api/chat?agent=keen", submit("c2", "u1", "hello")), parent, parent+"-more", 1))
		}, &heard)
		if len(heard) != 2 || heard[0].Traceparent != parent || heard[1].Traceparent != "" {
			t.Errorf("the agent heard %+q", heard)
		}
		for _, line := range lines {
			if _, has := line["trace_id"]; has != (line["session"] == "c1") && line["turn"] != nil {
				t.Errorf("%v in\n%s", line, all)
			}
		}
	})
}
