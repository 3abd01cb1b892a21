package langgraph_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/langgraph"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
)

// publishing is a backend that publishes events. The last word of the prompt chooses which.
func publishing(t testing.TB, c *agenttest.Cut) agent.Runtime {
	t.Helper()
	var mu sync.Mutex
	asked := map[string]string{} // the newest prompt of each thread
	srv := httptest.NewServer(c.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Message string          `json:"message"`
			Thread  string          `json:"thread_id"`
			Resume  json.RawMessage `json:"resume"`
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		mu.Lock()
		if body.Resume == nil {
			asked[body.Thread] = body.Message
		}
		prompt := asked[body.Thread]
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		publish(w, r, prompt, string(body.Resume))
	})))
	t.Cleanup(srv.Close)
	b := langgraph.Backend{URL: srv.URL}
	b.Resume = json.RawMessage(`{"resume":"{{answer}}","thread_id":"{{session}}"}`)
	return b
}

func publish(w http.ResponseWriter, r *http.Request, prompt, answer string) {
	event := func(kind, run, data string) {
		_, _ = fmt.Fprintf(w, "data: {\"event\":%q,\"name\":\"LangGraph\",\"run_id\":%q,\"data\":%s}\n\n", kind, run, data)
		_ = http.NewResponseController(w).Flush()
	}
	chunk := func(content string) {
		event("on_chat_model_stream", "m", `{"chunk":{"type":"AIMessageChunk","content":`+content+`}}`)
	}
	interrupt := func(value string) {
		event("on_chain_stream", "g", `{"chunk":{"__interrupt__":[{"id":"i","value":`+value+`}]}}`)
	}
	says := func(text string) {
		quoted, _ := json.Marshal(text)
		chunk(string(quoted))
	}
	event("on_chain_start", "g", `{"input":{}}`)
	fields := strings.Fields(prompt)
	switch how := append(fields, "")[max(len(fields)-1, 0)]; {
	case how == "question" && answer == "":
		interrupt(`{"question":"Which colour?","options":["red","blue"]}`)
	case how == "question":
		says("You chose " + answer)
	case (how == "permit" || how == "rich") && answer == "":
		if how == "rich" {
			chunk(`[{"type":"reasoning","reasoning":"I think. "}]`)
			says("I will touch it. ")
		}
		event("on_chat_model_end", "m", `{"output":{"type":"ai","content":"","tool_calls":[{"id":"call-1","name":"touch","args":{"path":"x"}}]}}`)
		interrupt(`{"action_requests":[{"name":"touch","args":{"path":"x"}}],"review_configs":[]}`)
	case how == "permit", how == "rich":
		result := `"status":"error","content":"not allowed"`
		if strings.Contains(answer, "approve") {
			result = `"status":"success","content":"touched"`
		}
		event("on_tool_end", "t", `{"output":{"type":"tool","tool_call_id":"call-1",`+result+`}}`)
		event("on_chat_model_stream", "n", `{"chunk":{"type":"AIMessageChunk","content":"That was it."}}`)
	case how == "slow":
		for i := 0; i < 2000 && r.Context().Err() == nil; i++ {
			says(fmt.Sprintf("word%d ", i))
			time.Sleep(30 * time.Millisecond)
		}
	case how == "die":
		says("So far. ")
		panic(http.ErrAbortHandler)
	case how == "half":
		_, _ = io.WriteString(w, "data: {\"event\":\"on_chat_mo")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case how == "garbage":
		_, _ = io.WriteString(w, "data: {nonsense\n\nno field at all\n\nevent: \x00\ndata: [1,2,3]\n\ndata: {\"event\":7}\n\n: heartbeat\n\n")
		says("Beside the garbage.")
	case how == "huge":
		says(agenttest.HugeText())
	default:
		says("Hello.")
	}
	event("on_chain_end", "g", `{"output":{}}`)
}

func TestSuiteOfABackend(t *testing.T) {
	agenttest.Run(t, agenttest.Suite{
		AsWritten: true,
		Open:      func(t testing.TB) agent.Runtime { return publishing(t, nil) },
		Cut:       func(t testing.TB, c *agenttest.Cut) agent.Runtime { return publishing(t, c) },
		Prompts: map[agenttest.Ability]string{
			agenttest.Text: "hello", agenttest.Slow: "slow", agenttest.Permission: "permit", agenttest.Question: "question",
			agenttest.Die: "die", agenttest.Half: "half", agenttest.Garbage: "garbage", agenttest.Huge: "huge", agenttest.Rich: "rich",
		},
		Runs:    agenttest.Tells("touched", `{"path":"x"}`),
		Decoder: func() agent.Decoder { return langgraph.NewDecoder(langgraph.Options{}) },
		Bound:   time.Minute,
	})
}
