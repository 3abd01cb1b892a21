package openai_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/adapter/openai"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/agent/toolloop/mcptool"
	"github.com/tributary-dev/tributary/trace"
)

// about is what a session's notes say of the agent.
func about(t *testing.T, r openai.Runtime) trace.AgentInfo {
	t.Helper()
	s := open(t, r)
	s.prompt("hello")
	for _, p := range s.host.Notes() {
		d, _ := p.(trace.Data)
		if a, is := d.Agent(); is {
			return a
		}
	}
	t.Fatalf("the notes are %v", s.host.Notes())
	return trace.AgentInfo{}
}

func TestWhichModel(t *testing.T) {
	f := newFake(t, actor)
	own := toolloop.New("order_status", "Says how far an order is.", func(_ context.Context, _ struct{ Order string }) (string, error) { return "", nil })
	r := f.runtime(openai.Options{Provider: "ollama", System: "Be brief.", Tools: &[]string{"bash"}})
	r.Own = []toolloop.Tool{own}
	a := about(t, r)
	var tools []string
	for _, tool := range a.Tools {
		tools = append(tools, fmt.Sprint(tool.Name, " ", tool.Description != "", " ", len(tool.InputSchema) > 10))
	}
	if d := cmp.Diff([]string{"bash true true", "order_status true true"}, tools); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	a.Tools = nil
	if d := cmp.Diff(trace.AgentInfo{Provider: "ollama", Model: "tiny"}, a); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if a := about(t, f.runtime(openai.Options{})); a.Provider != "" {
		t.Errorf("without a provider: %+v", a)
	}
}

func TestTheServersWordForWhyTheModelStopped(t *testing.T) {
	for api, want := range map[string][]string{"chat": {"tool_calls", "stop"}, "responses": {"completed", "completed"}} {
		events, _ := open(t, newFake(t, actor).runtime(openai.Options{API: api})).prompt("command")
		var got []string
		for _, s := range agenttest.Each[trace.Step](events) {
			if s.Phase == trace.PhaseEnd {
				got = append(got, s.Finish)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the steps end with %q, want %q", api, got, want)
		}
	}
}

func TestTheClassOfAFailure(t *testing.T) {
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			fmt.Fprint(w, body)
		}
	}
	inStream := func(body string) http.HandlerFunc { return stream(delta(`{"content":"x"}`), body) }
	for _, c := range []struct {
		name  string
		serve http.HandlerFunc
		want  trace.Class
	}{
		{"401", status(401, `{"error":{"message":"no key"}}`), trace.ClassAuth},
		{"402", status(402, `{}`), trace.ClassRateLimit},
		{"403 with a long sentence", status(403, `{"error":{"message":"your context window is none of our business"}}`), trace.ClassAuth},
		{"404", status(404, `{"error":{"message":"no such model"}}`), trace.ClassRequest},
		{"429", status(429, `{}`), trace.ClassRateLimit},
		{"no quota, as a 400", status(400, `{"error":{"code":"insufficient_quota","message":"pay"}}`), trace.ClassRateLimit},
		{"503", status(503, `overloaded`), trace.ClassOverloaded},
		{"504", status(504, ``), trace.ClassNetwork},
		{"a 400", status(400, `{"error":{"message":"no"}}`), trace.ClassRequest},
		{"a 400 of a code", status(400, `{"error":{"code":"context_length_exceeded","message":"no"}}`), trace.ClassContext},
		{"a 500 of a sentence", status(500, `{"error":{"message":"the request exceeds the available context size"}}`), trace.ClassContext},
		{"in the stream, of a type", inStream(`{"error":{"type":"server_error","message":"x"}}`), trace.ClassOverloaded},
		{"in the stream, of a code", inStream(`{"error":{"code":"rate_limit_exceeded","message":"x"}}`), trace.ClassRateLimit},
		{"in the stream, of a status", inStream(`{"error":{"code":502,"message":"x"}}`), trace.ClassOverloaded},
		{"in the stream, of nothing", inStream(`{"error":{"message":"x"}}`), ""},
		{"a stream that breaks off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: %s\n\n", delta(`{"content":"x"}`))
		}, trace.ClassNetwork},
		{"a page", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
		}, ""},
		{"no JSON", inStream(`{"choices":[`), ""},
		{"the answer is held back", stream(`{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"content_filter"}]}`), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, stop := open(t, serve(t, c.serve).runtime(openai.Options{Retries: new(int)})).prompt("go")
			if stop.Outcome != trace.OutcomeFailed || stop.Class != c.want {
				t.Errorf("it ended as %+v, want the class %q", stop, c.want)
			}
		})
	}
	r := newFake(t, actor).runtime(openai.Options{Retries: new(int)})
	r.URL = "http://127.0.0.1:1/v1"
	if _, stop := open(t, r).prompt("go"); stop.Class != trace.ClassNetwork {
		t.Errorf("nobody answers: it ended as %+v", stop)
	}
	if _, stop := open(t, newFake(t, actor).runtime(openai.Options{Budget: openai.Budget{TurnTokens: 1}})).prompt("command"); stop.Class != trace.ClassLimit {
		t.Errorf("no budget: it ended as %+v", stop)
	}
	if _, stop := open(t, newFake(t, actor).runtime(openai.Options{MaxSteps: 1})).prompt("command"); stop.Class != trace.ClassLimit {
		t.Errorf("no steps: it ended as %+v", stop)
	}
}

func TestMissingToolsAreAFailureAndARetryIsNot(t *testing.T) {
	broken := map[string]mcptool.Server{"test": {Command: "/no/such/program"}}
	asked := 0
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		writeChat(w, r, reply{text: "Hello."})
	})
	events, _ := open(t, f.runtime(openai.Options{MCP: broken})).prompt("hello")
	levels := map[string]trace.Level{}
	for _, e := range agenttest.Each[trace.Error](events) {
		levels[e.Code] = e.Level
	}
	if d := cmp.Diff(map[string]trace.Level{"mcp": "", "retry": trace.LevelNotice}, levels); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
