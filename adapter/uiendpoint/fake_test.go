package uiendpoint_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/adapter/uiendpoint"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/sse"
	"github.com/tributary-dev/tributary/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is an endpoint whose answers follow from the last message.
type fake struct {
	*agenttest.ShakyServer
	handler http.Handler
	mu      sync.Mutex
	bodies  []object
	heads   []http.Header
	joins   int
	stopped chan struct{}                      // closed by a POST to .../stop
	resumes func(w http.ResponseWriter, n int) // the answer to a GET; nil: 204
	hangs   bool                               // a run that goes on hangs after the first output
}

func newFake(t testing.TB) *fake {
	t.Helper()
	return newCutFake(t, nil)
}

// newCutFake is a fake that dies at a point.
func newCutFake(t testing.TB, c *agenttest.Cut) *fake {
	t.Helper()
	f := &fake{stopped: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/chat", f.chat)
	mux.HandleFunc("GET /api/chat/{id}/stream", func(w http.ResponseWriter, _ *http.Request) {
		f.mu.Lock()
		f.joins++
		n := f.joins
		f.mu.Unlock()
		if f.resumes == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		f.resumes(w, n)
	})
	mux.HandleFunc("POST /api/chat/{id}/stop", func(http.ResponseWriter, *http.Request) { close(f.stopped) })
	f.handler = c.Serve(mux)
	f.ShakyServer = agenttest.NewShakyServer(t, f.handler)
	return f
}

func (f *fake) url() string { return f.URL + "/api/chat" }

// requests are the bodies so far.
func (f *fake) requests() []object {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]object{}, f.bodies...)
}

// last is the last message of a request: its role, its text, and its tool parts.
func last(b object) (role, text string, tools []object) {
	all, _ := b["messages"].([]any)
	m, _ := b["message"].(object)
	if len(all) > 0 {
		m = all[len(all)-1].(object)
	}
	role, _ = m["role"].(string)
	parts, _ := m["parts"].([]any)
	for _, p := range parts {
		part := p.(object)
		if part["type"] == "text" {
			text += part["text"].(string)
		}
		if part["toolCallId"] != nil {
			tools = append(tools, part)
		}
	}
	return role, text, tools
}

const (
	opening  = `{"type":"start","messageId":"theirs"}`
	step     = `{"type":"start-step"}`
	stepEnds = `{"type":"finish-step"}`
	finish   = `{"type":"finish","finishReason":"stop"}`
	forTools = `{"type":"finish","finishReason":"tool-calls"}`
)

// words are the chunks of a text.
func words(text string) []string {
	return []string{`{"type":"text-start","id":"0"}`, fmt.Sprintf(`{"type":"text-delta","id":"0","delta":%q}`, text), `{"type":"text-end","id":"0"}`}
}

func textTurn(text string) []string {
	return append(append([]string{opening, step}, words(text)...), stepEnds, finish)
}

// send writes events as they are.
func send(w http.ResponseWriter, chunks ...string) {
	for _, c := range chunks {
		fmt.Fprintf(w, "data: %s\n\n", c)
	}
	_ = http.NewResponseController(w).Flush()
}

func (f *fake) chat(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var b object
	_ = json.Unmarshal(raw, &b)
	f.mu.Lock()
	f.bodies, f.heads = append(f.bodies, b), append(f.heads, r.Header)
	f.mu.Unlock()
	role, text, tools := last(b)
	w.Header().Set("Content-Type", "text/event-stream")
	if role == "assistant" {
		f.goOn(w, r, tools)
		return
	}
	const call = `{"type":"tool-input-available","toolCallId":"c1","toolName":"pay","input":{"n":1}}`
	switch text {
	case "recall":
		answer := "You told me nothing."
		if strings.Contains(string(raw), "the Rhine") {
			answer = "Your river is the Rhine."
		}
		send(w, textTurn(answer)...)
	case "permit":
		send(w, opening, step, call, `{"type":"tool-approval-request","toolCallId":"c1","approvalId":"a1","signature":"sig"}`, stepEnds, forTools, "[DONE]")
	case "rich":
		send(w, opening, step, `{"type":"reasoning-start","id":"r"}`, `{"type":"reasoning-delta","id":"r","delta":"Hm."}`, `{"type":"reasoning-end","id":"r"}`)
		send(w, append(words("I pay."), call, `{"type":"tool-approval-request","toolCallId":"c1","approvalId":"a1"}`, stepEnds, forTools, "[DONE]")...)
	case "two":
		send(w, opening, step, call, `{"type":"tool-input-available","toolCallId":"c2","toolName":"where","input":{}}`,
			`{"type":"tool-approval-request","toolCallId":"c1","approvalId":"a1"}`, stepEnds, forTools, "[DONE]")
	case "client":
		send(w, opening, step, `{"type":"tool-input-start","toolCallId":"c1","toolName":"where"}`, `{"type":"tool-input-available","toolCallId":"c1","toolName":"where","input":{}}`, stepEnds, forTools, "[DONE]")
	case "stoppable":
		send(w, opening, step, `{"type":"text-start","id":"0"}`, `{"type":"text-delta","id":"0","delta":"half"}`)
		select {
		case <-f.stopped:
			send(w, `{"type":"abort"}`)
		case <-r.Context().Done():
		}
	case "slow":
		send(w, opening, step, `{"type":"text-start","id":"0"}`)
		for i := range 3000 {
			send(w, fmt.Sprintf(`{"type":"text-delta","id":"0","delta":"word %d "}`, i))
			select {
			case <-time.After(20 * time.Millisecond):
			case <-r.Context().Done():
				return
			}
		}
		send(w, `{"type":"text-end","id":"0"}`, stepEnds, finish)
	default:
		f.fault(w, text)
	}
}

// goOn answers a request that goes on with a message.
func (f *fake) goOn(w http.ResponseWriter, r *http.Request, tools []object) {
	send(w, opening)
	got := ""
	for _, p := range tools {
		approval, _ := p["approval"].(object)
		switch {
		case p["state"] == "approval-responded" && approval["approved"] == true:
			send(w, fmt.Sprintf(`{"type":"tool-output-available","toolCallId":%q,"output":"paid"}`, p["toolCallId"]))
		case p["state"] == "approval-responded":
			send(w, fmt.Sprintf(`{"type":"tool-output-denied","toolCallId":%q}`, p["toolCallId"]))
		}
		if f.hangs {
			<-r.Context().Done()
			return
		}
		got += fmt.Sprint(p["state"], " ", p["output"], p["errorText"], approval["reason"], ";")
	}
	send(w, append(append([]string{step}, words(got)...), stepEnds, finish, "[DONE]")...)
}

// fault answers as endpoints should not.
func (f *fake) fault(w http.ResponseWriter, text string) {
	big := strings.Repeat("x", 200<<10)
	switch text {
	case "error":
		send(w, append(append([]string{opening, step}, words("half")...), `{"type":"error","errorText":"The model is overloaded."}`, stepEnds, `{"type":"finish","finishReason":"error"}`, "[DONE]")...)
	case "abort":
		send(w, opening, step, `{"type":"text-start","id":"0"}`, `{"type":"text-delta","id":"0","delta":"half"}`, `{"type":"abort","reason":"budget"}`, "[DONE]")
	case "die", "half":
		send(w, opening, step, `{"type":"text-start","id":"0"}`, `{"type":"text-delta","id":"0","delta":"half "}`)
		if text == "half" {
			fmt.Fprint(w, `data: {"type":"text-del`)
			_ = http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler)
	case "ends in a word":
		send(w, opening, step, `{"type":"text-start","id":"0"}`, `{"type":"text-delta","id":"0","delta":"half "}`)
	case "no finish":
		send(w, append([]string{opening}, words("done")...)...)
	case "done early":
		send(w, opening, "[DONE]")
		send(w, append(words("late"), finish)...)
	case "page":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>sign in</html>")
	case "moved":
		w.Header().Set("Location", "https://elsewhere.test/")
		w.WriteHeader(http.StatusTemporaryRedirect)
	case "refused":
		http.Error(w, "You have no credit.", http.StatusPaymentRequired)
	case "busy":
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"error":{"message":"The thread is busy."}}`)
	case "endless":
		fmt.Fprint(w, "data: "+big)
		panic(http.ErrAbortHandler)
	case "json":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"text":"hi"}`)
	case "long line":
		send(w, textTurn(big)...)
	case "garbage":
		send(w, opening, "<p>", "17", `{"no":"type"}`, `{"type":17}`, `null`, `{"type":"ping"}`, `{"type":"tool-output-available","toolCallId":"nobody","output":1}`,
			`{"type":"text-delta","id":"unopened","delta":"A"}`, `{"type":"text-end","id":"never"}`, `{"type":"tool-approval-response","approvalId":"never","approved":true}`)
		send(w, append(words("B"), finish)...)
	case "fake event":
		send(w, textTurn("a\n\nevent: fake\ndata: {\"type\":\"error\"}\n\n")...)
	case "twice":
		send(w, opening, opening, step, `{"type":"text-start","id":"0"}`, `{"type":"text-start","id":"0"}`, `{"type":"text-delta","id":"0","delta":"one"}`, `{"type":"text-end","id":"0"}`, `{"type":"text-end","id":"0"}`)
		send(w, append(words("two"), `{"type":"tool-input-available","toolCallId":"c","toolName":"t","input":1}`, `{"type":"tool-input-available","toolCallId":"c","toolName":"t","input":1}`,
			`{"type":"tool-output-available","toolCallId":"c","output":1}`, `{"type":"tool-output-available","toolCallId":"c","output":2}`, finish, finish)...)
	case "huge":
		send(w, textTurn(strings.Repeat("x", sse.DefaultMax))...)
	default:
		send(w, append(textTurn("You said: "+text), "[DONE]")...)
	}
}

// conversation is a session with the fake, and what its host has on record.
type conversation struct {
	t       *testing.T
	host    *agenttest.Host
	session agent.Session
	runtime uiendpoint.Runtime
}

func newConversation(t *testing.T, url string, settings uiendpoint.Settings) *conversation {
	t.Helper()
	return open(t, uiendpoint.Runtime{URL: url, Settings: settings}, agenttest.NewHost())
}

func open(t *testing.T, r uiendpoint.Runtime, host *agenttest.Host) *conversation {
	t.Helper()
	s, err := r.Open(t.Context(), host, agent.Config{SessionID: "session-1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &conversation{t, host, s, r}
}

func prompt(text string) agent.Prompt {
	return agent.Prompt{Message: trace.UserMessage{ID: "u-" + text, Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}}, By: "ann", Caller: agent.Caller{Bearer: "anns"}}
}

// plays plays a turn and returns its events and its end.
func (c *conversation) plays(text string) ([]trace.Event, trace.Stop) {
	c.t.Helper()
	r := c.host.Turn(prompt(text))
	ctx, cancel := context.WithTimeout(c.t.Context(), 20*time.Second)
	defer cancel()
	err := c.session.Prompt(ctx, prompt(text), r.Builder)
	return c.finished(r, err)
}

func (c *conversation) finished(r *agenttest.Recorder, err error) ([]trace.Event, trace.Stop) {
	c.t.Helper()
	stop, ok := r.Result()
	if err != nil || !ok {
		stop = trace.Stop{Outcome: trace.OutcomeFailed, Error: fmt.Sprint(err)}
	}
	if err := r.Finish(stop); err != nil {
		c.t.Fatal(err)
	}
	if err := agenttest.CheckTurn(r.Events()); err != nil {
		c.t.Error(err)
	}
	return r.Events(), agenttest.Each[trace.Stop](r.Events())[0]
}
