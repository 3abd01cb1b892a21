package openai_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/openai"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// stream is a handler that sends chunks of Chat Completions, and a last text once a call
// was answered.
func stream(chunks ...string) http.HandlerFunc {
	asked := 0
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if asked++; asked > 1 {
			writeChat(w, r, reply{text: "Done."})
			return
		}
		for _, c := range chunks {
			fmt.Fprintf(w, "data: %s\n\n", c)
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

func delta(d string) string { return `{"choices":[{"index":0,"delta":` + d + `}]}` }

const over = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`

func TestCallsOfServersThatDiffer(t *testing.T) {
	for _, c := range []struct {
		name   string
		chunks []string
		want   string
	}{
		{"in pieces, side by side", []string{
			delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"command\""}}]}`),
			delta(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"bash","arguments":""}}]}`),
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":":\"echo 1\"}"}},{"index":1,"function":{"arguments":"{\"command\":\"echo 2\"}"}}]}`), over,
		}, `a bash {"command":"echo 1"}; b bash {"command":"echo 2"}`},
		{"whole, index 0 and ids of their own", []string{
			delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"command\":\"echo 1\"}"}}]}`),
			delta(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"bash","arguments":"{\"command\":\"echo 2\"}"}}]}`), over,
		}, `a bash {"command":"echo 1"}; b bash {"command":"echo 2"}`},
		{"whole, no ids, index 0", []string{
			delta(`{"tool_calls":[{"function":{"name":"bash","arguments":"{\"command\":\"echo 1\"}"}},{"function":{"name":"bash","arguments":"{\"command\":\"echo 2\"}"}}]}`), over,
		}, `call_t1_1_1 bash {"command":"echo 1"}; call_t1_1_2 bash {"command":"echo 2"}`},
		{"the same id twice", []string{
			delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"command\":\"echo 1\"}"}}]}`),
			delta(`{"tool_calls":[{"index":1,"id":"a","function":{"name":"bash","arguments":"{\"command\":\"echo 2\"}"}}]}`), over,
		}, `a bash {"command":"echo 1"}; call_t1_1_2 bash {"command":"echo 2"}`},
		{"arguments as an object", []string{
			delta(`{"tool_calls":[{"id":"a","function":{"name":"bash","arguments":{"command":"echo 1"}}}]}`), over,
		}, `a bash {"command":"echo 1"}`},
		{"id and name repeated", []string{
			delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"command\""}}]}`),
			delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":":\"echo 1\"}"}}]}`), over,
		}, `a bash {"command":"echo 1"}`},
		{"finish reason stop", []string{
			delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"command\":\"echo 1\"}"}}]}`),
			`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
		}, `a bash {"command":"echo 1"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			events, stop := open(t, serve(t, stream(c.chunks...)).runtime(openai.Options{})).prompt("go")
			var got []string
			for _, call := range agenttest.Each[trace.ToolCall](events) {
				got = append(got, call.ToolCallID+" "+call.RawName+" "+string(call.Input))
			}
			if strings.Join(got, "; ") != c.want || stop.Outcome != trace.OutcomeCompleted {
				t.Errorf("got %s\nwant %s\nended as %+v", strings.Join(got, "; "), c.want, stop)
			}
			for _, r := range agenttest.Each[trace.ToolResult](events) {
				if r.Status != trace.ToolCompleted {
					t.Errorf("a call ended as %+v", r)
				}
			}
		})
	}
}

func TestReasoningInAllItsForms(t *testing.T) {
	end := `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	for name, chunk := range map[string]string{
		"reasoning_content": `{"reasoning_content":"Hm."}`,
		"reasoning":         `{"reasoning":"Hm.","reasoning_details":[{"type":"reasoning.text","text":"Hm."}]}`,
		"content parts":     `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			events, _ := open(t, serve(t, stream(delta(chunk), delta(`{"content":"Hello."}`), end)).runtime(openai.Options{})).prompt("go")
			thoughts := agenttest.Each[trace.Thought](events)
			if len(thoughts) != 1 || thoughts[0].Text != "Hm." || agenttest.Said(events) != "Hello.\n" {
				t.Errorf("thought %+v, said %q", thoughts, agenttest.Said(events))
			}
		})
	}
}

func TestEndsOfAnAnswer(t *testing.T) {
	for _, c := range []struct {
		name, delta, finish, reason string
		outcome                     trace.Outcome
	}{
		{"done", `{"content":"x"}`, "stop", "end_turn", trace.OutcomeCompleted},
		{"cut off", `{"content":"x"}`, "length", "max_tokens", trace.OutcomeCompleted},
		{"refused", `{"refusal":"I must not."}`, "stop", "refusal", trace.OutcomeCompleted},
		{"held back", `{"content":"x"}`, "content_filter", "content_filter", trace.OutcomeFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			end := `{"choices":[{"index":0,"delta":{},"finish_reason":"` + c.finish + `"}]}`
			events, stop := open(t, serve(t, stream(delta(c.delta), end)).runtime(openai.Options{})).prompt("go")
			if stop.Reason != c.reason || stop.Outcome != c.outcome || agenttest.Said(events) == "" {
				t.Errorf("said %q, ended as %+v", agenttest.Said(events), stop)
			}
		})
	}
}

func TestUsageCountsCachedInputOnceAndHasACost(t *testing.T) {
	for _, api := range []string{"chat", "responses"} {
		f := newFake(t, actor)
		o := openai.Options{API: api, Prices: &openai.Prices{Input: 10, CachedInput: 1, Output: 100}}
		events, _ := open(t, f.runtime(o)).prompt("command")
		used := agenttest.Each[trace.Usage](events)
		last := used[len(used)-1]
		if len(used) != 3 || last.Scope != trace.UsageTurn || last.InputTokens != 200 || last.CacheReadTokens != 80 || last.OutputTokens != 20 {
			t.Errorf("%s: the usage is %+v", api, used)
		}
		if want := 2 * (60*10.0 + 40*1 + 10*100) / 1e6; last.CostUSD == nil || math.Abs(*last.CostUSD-want) > 1e-12 {
			t.Errorf("%s: the cost is %v, want %v", api, last.CostUSD, want)
		}
	}
}

func TestBudgetEndsTheTurnAndTheSession(t *testing.T) {
	f := newFake(t, actor)
	_, stop := open(t, f.runtime(openai.Options{Budget: openai.Budget{TurnTokens: 100}})).prompt("command")
	if want := "The turn has used 110 tokens of a budget of 100 tokens: ask the agent to go on, or raise agents.local.options.budget.turn_tokens."; stop.Reason != "budget" || stop.Error != want {
		t.Errorf("the turn ended as %+v", stop)
	}
	s := open(t, f.runtime(openai.Options{Prices: &openai.Prices{Input: 1, Output: 1}, Budget: openai.Budget{SessionUSD: 0.0002}}))
	for i, want := range []string{"end_turn", "end_turn", "budget"} {
		if _, stop := s.prompt("hello"); stop.Reason != want {
			t.Errorf("turn %d ended as %+v", i+1, stop)
		}
	}
}

func TestCallsAreLeftOutTogetherWithTheirResults(t *testing.T) {
	calls := 0
	f := newFake(t, func(c conversation) reply {
		if calls++; calls > 6 {
			return reply{text: "Done."}
		}
		return reply{name: "bash", input: fmt.Sprintf(`{"command":"seq %d 600"}`, calls)}
	})
	tools := []string{"bash"}
	_, stop := open(t, f.runtime(openai.Options{ContextTokens: 1500, Tools: &tools, System: "Be brief."})).prompt("go")
	if stop.Outcome != trace.OutcomeCompleted {
		t.Fatalf("the turn ended as %+v", stop)
	}
	for i, body := range f.requests() {
		open := 0
		for _, m := range body["messages"].([]any) {
			if list, ok := m.(map[string]any)["tool_calls"].([]any); ok {
				open += len(list)
			}
			if m.(map[string]any)["role"] == "tool" {
				open--
			}
		}
		if open != 0 {
			t.Errorf("request %d has calls without results, or results without calls", i+1)
		}
	}
}

func TestPromptsHaveImagesAndFiles(t *testing.T) {
	parts := []trace.InputPart{
		{Type: trace.InputText, Text: "Look."},
		{Type: trace.InputFile, MediaType: "image/png", URL: "data:image/png;base64,aGk="},
		{Type: trace.InputFile, MediaType: "application/pdf", Filename: "a.pdf", URL: "data:application/pdf;base64,aGk="},
		{Type: trace.InputFile, MediaType: "text/csv", Filename: "a.csv", URL: "data:text/csv;base64,YSxi"},
		{Type: trace.InputFile, MediaType: "image/png", Filename: "p.png", URL: "file:///etc/passwd"},
	}
	for api, want := range map[string][]string{
		"chat":      {`"image_url":{"url":"data:image/png;base64,aGk="}`, `"file":{"file_data":"data:application/pdf;base64,aGk=","filename":"a.pdf"}`, `Attached file a.csv:\n\na,b`, `p.png of type image/png, which cannot be passed on`},
		"responses": {`"image_url":"data:image/png;base64,aGk="`, `"file_data":"data:application/pdf;base64,aGk="`, `Attached file a.csv:\n\na,b`, `p.png of type image/png, which cannot be passed on`},
	} {
		f := newFake(t, func(conversation) reply { return reply{text: "I see."} })
		open(t, f.runtime(openai.Options{API: api})).play(t.Context(), parts...)
		raw, err := json.Marshal(f.requests()[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(raw), w) {
				t.Errorf("%s: the request lacks %s: %s", api, w, raw)
			}
		}
		if strings.Contains(string(raw), "etc/passwd") {
			t.Errorf("%s: an address on this machine was sent", api)
		}
	}
}

func TestParametersGoToTheEndpointAsTheyAre(t *testing.T) {
	f := newFake(t, actor)
	open(t, f.runtime(openai.Options{System: "Be kind.", Params: map[string]any{"temperature": 0.2, "max_tokens": 50, "stream_options": nil}})).prompt("hello")
	body := f.requests()[0]
	if body["temperature"] != 0.2 || body["max_tokens"] != 50.0 || body["model"] != "tiny" || body["stream"] != true || body["stream_options"] != nil {
		t.Errorf("the request is %v", body)
	}
	if first := body["messages"].([]any)[0].(map[string]any); first["content"] != "Be kind." || first["role"] != "system" {
		t.Errorf("the system prompt is %v", first)
	}
}

func TestSealedReasoningComesBackToTheEndpoint(t *testing.T) {
	f := newFake(t, actor)
	s := open(t, f.runtime(openai.Options{API: "responses"}))
	s.prompt("command")
	s.prompt("hello")
	bodies := f.requests()
	raw, err := json.Marshal(bodies[len(bodies)-1]["input"])
	if err != nil || !strings.Contains(string(raw), `"encrypted_content":"sealed"`) || !strings.Contains(string(raw), `"text":"I need a command."`) {
		t.Errorf("the request is %s", raw)
	}
	if bodies[0]["store"] != false {
		t.Error("the endpoint may store the conversation")
	}
}

func TestReasoningGoesBackWithEveryMessageThatHasCalls(t *testing.T) {
	f := newFake(t, actor)
	s := open(t, f.runtime(openai.Options{}))
	s.prompt("command")
	s.prompt("hello")
	for i, want := range []int{0, 1, 1} {
		raw, err := json.Marshal(f.requests()[i])
		if got := strings.Count(string(raw), "reasoning_content"); err != nil || got != want {
			t.Errorf("request %d has %d pieces of reasoning, want %d", i+1, got, want)
		}
	}
}
