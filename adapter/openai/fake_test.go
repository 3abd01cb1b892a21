package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/adapter/openai"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

func TestMain(m *testing.M) {
	beServer()
	goleak.VerifyTestMain(m)
}

// fake is an endpoint that speaks both interfaces.
type fake struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []map[string]any
	heads  []http.Header
}

// reply is what the fake says next.
type reply struct {
	thought, text string
	pace          time.Duration
	name, input   string // a call
	raw           string // how the stream is disturbed behind the text
}

// conversation is what the fake reads of a request.
type conversation struct {
	prompts  []string
	answered bool // the last thing is the result of a call
	result   string
}

func newFake(t testing.TB, play func(conversation) reply) *fake {
	t.Helper()
	return newCutFake(t, play, nil)
}

// newCutFake is a fake whose streams the Cut may break off.
func newCutFake(t testing.TB, play func(conversation) reply, c *agenttest.Cut) *fake {
	t.Helper()
	f := &fake{}
	f.Server = httptest.NewServer(c.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		var body map[string]any
		if err != nil || json.Unmarshal(raw, &body) != nil {
			http.Error(w, "no JSON", http.StatusBadRequest)
			return
		}
		f.mu.Lock()
		f.bodies, f.heads = append(f.bodies, body), append(f.heads, r.Header)
		f.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		next := play(read(body))
		if strings.HasSuffix(r.URL.Path, "/responses") {
			writeResponse(w, r, next)
		} else {
			writeChat(w, r, next)
		}
	})))
	t.Cleanup(f.Close)
	return f
}

func read(body map[string]any) (c conversation) {
	items, _ := body["messages"].([]any)
	if items == nil {
		items, _ = body["input"].([]any)
	}
	for _, item := range items {
		m, _ := item.(map[string]any)
		c.answered = false
		switch {
		case m["role"] == "tool":
			c.answered, c.result = true, fmt.Sprint(m["content"])
		case m["type"] == "function_call_output":
			c.answered, c.result = true, fmt.Sprint(m["output"])
		case m["role"] == "user":
			text := fmt.Sprint(m["content"])
			if parts, ok := m["content"].([]any); ok {
				text = ""
				for _, p := range parts {
					text += fmt.Sprint(p.(map[string]any)["text"])
				}
			}
			c.prompts = append(c.prompts, text)
		}
	}
	return c
}

func (c conversation) last() string { return c.prompts[len(c.prompts)-1] }

// sender writes events until the client has gone.
func sender(w http.ResponseWriter, r *http.Request, pace time.Duration) func(string, any) {
	return func(name string, v any) {
		raw, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		if name != "" {
			fmt.Fprintf(w, "event: %s\n", name)
		}
		fmt.Fprintf(w, "data: %s\n\n", raw)
		w.(http.Flusher).Flush()
		if pace > 0 {
			select {
			case <-time.After(pace):
			case <-r.Context().Done():
			}
		}
	}
}

// disturb breaks a stream, and reports whether it is over.
func disturb(w http.ResponseWriter, how string) bool {
	switch how {
	case "garbage":
		fmt.Fprint(w, ": a comment\n\nretry: 5\n\nno field at all\n\n")
		return false
	case "half":
		fmt.Fprint(w, `data: {"choices":[{"ind`)
	case "die":
	default:
		return false
	}
	w.(http.Flusher).Flush()
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = conn.Close()
	}
	return true
}

func words(text string) []string { return strings.SplitAfter(text, " ") }

type object = map[string]any

func writeChat(w http.ResponseWriter, r *http.Request, s reply) {
	send := sender(w, r, s.pace)
	delta := func(d object) { send("", object{"id": "x", "choices": []any{object{"index": 0, "delta": d}}}) }
	for _, word := range words(s.thought) {
		delta(object{"reasoning_content": word})
	}
	for _, word := range words(s.text) {
		delta(object{"content": word})
	}
	if disturb(w, s.raw) {
		return
	}
	finish := "stop"
	if s.name != "" {
		finish = "tool_calls"
		half := len(s.input) / 2
		delta(object{"tool_calls": []any{object{"index": 0, "id": "call_1", "function": object{"name": s.name, "arguments": s.input[:half]}}}})
		delta(object{"tool_calls": []any{object{"index": 0, "function": object{"arguments": s.input[half:]}}}})
	}
	send("", object{"id": "x", "choices": []any{object{"index": 0, "delta": object{}, "finish_reason": finish}}})
	send("", object{"id": "x", "choices": []any{}, "usage": object{"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": object{"cached_tokens": 40}}})
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func writeResponse(w http.ResponseWriter, r *http.Request, s reply) {
	send := sender(w, r, s.pace)
	event := func(name string, o object) {
		o["type"] = name
		send(name, o)
	}
	event("response.created", object{"response": object{"id": "r", "status": "in_progress"}})
	if s.thought != "" {
		item := object{"id": "rs", "type": "reasoning", "summary": []any{}, "encrypted_content": "sealed"}
		event("response.output_item.added", object{"item": item})
		event("response.reasoning_summary_text.delta", object{"item_id": "rs", "delta": s.thought})
		event("response.output_item.done", object{"item": item})
	}
	if s.text != "" {
		event("response.output_item.added", object{"item": object{"id": "m", "type": "message"}})
		for _, word := range words(s.text) {
			event("response.output_text.delta", object{"item_id": "m", "delta": word})
		}
		if disturb(w, s.raw) {
			return
		}
		event("response.output_item.done", object{"item": object{"id": "m", "type": "message"}})
	}
	if s.name != "" {
		event("response.output_item.added", object{"item": object{"id": "fc", "type": "function_call", "call_id": "call_1", "name": s.name, "arguments": ""}})
		event("response.function_call_arguments.delta", object{"item_id": "fc", "delta": s.input})
		event("response.output_item.done", object{"item": object{"id": "fc", "type": "function_call", "call_id": "call_1", "name": s.name, "arguments": s.input}})
	}
	event("response.completed", object{"response": object{"id": "r", "status": "completed", "usage": object{
		"input_tokens": 100, "output_tokens": 10, "input_tokens_details": object{"cached_tokens": 40},
	}}})
}

func (f *fake) runtime(o openai.Options) openai.Runtime {
	return openai.Runtime{Agent: "local", URL: f.URL + "/v1", Model: "tiny", Env: []string{"PATH=/usr/bin:/bin"}, Tools: toolkind.OpenAI(), Options: o}
}

func (f *fake) requests() []map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bodies
}

// testSession is a session with a workspace.
type testSession struct {
	t    *testing.T
	host *agenttest.Host
	dir  workspace.Dir
	agent.Session
}

func open(t *testing.T, r openai.Runtime) *testSession {
	t.Helper()
	dir, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	host := agenttest.NewHost()
	host.Dir = dir
	host.OnPermit = func(_ context.Context, r trace.PermissionRequest) trace.PermissionResponse {
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "allow", OptionKind: trace.AllowOnce}
	}
	s, err := r.Open(t.Context(), host, agent.Config{SessionID: "s", Cwd: dir.Path()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		_ = dir.Close()
	})
	return &testSession{t, host, dir, s}
}

// play runs a turn to its end.
func (s *testSession) play(ctx context.Context, parts ...trace.InputPart) ([]trace.Event, trace.Stop) {
	s.t.Helper()
	p := agent.Prompt{Message: trace.UserMessage{ID: "u", Parts: parts}}
	r := s.host.Turn(p)
	if err := s.Prompt(ctx, p, r.Builder); err != nil {
		s.t.Fatal(err)
	}
	stop, _ := r.Result()
	if err := r.Finish(stop); err != nil {
		s.t.Fatal(err)
	}
	if err := agenttest.CheckTurn(r.Events()); err != nil {
		s.t.Errorf("the turn is not well formed: %v", err)
	}
	return r.Events(), stop
}

func (s *testSession) prompt(text string) ([]trace.Event, trace.Stop) {
	s.t.Helper()
	return s.play(s.t.Context(), trace.InputPart{Type: trace.InputText, Text: text})
}

func notices(events []trace.Event) (all []string) {
	for _, e := range agenttest.Each[trace.Error](events) {
		all = append(all, e.Message)
	}
	return all
}
