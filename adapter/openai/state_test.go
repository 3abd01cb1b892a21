package openai_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/adapter/openai"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// assistants are the messages of the assistant with calls in a request.
func assistants(body map[string]any) (all []map[string]any) {
	messages, _ := body["messages"].([]any)
	for _, m := range messages {
		if m, _ := m.(map[string]any); m["role"] == "assistant" && m["tool_calls"] != nil {
			all = append(all, m)
		}
	}
	return all
}

// The state of a provider goes back unchanged with its own message in all later requests, also to
// a session that was opened again.
func TestTheStateOfAProviderGoesBackUnchanged(t *testing.T) {
	t.Parallel()
	call := func(more string) string {
		return `{"index":0,"id":"a"` + more + `,"function":{"name":"bash","arguments":"{\"command\":\"echo ONE\"}"}}`
	}
	for name, c := range map[string]struct{ chunks, message, call string }{
		"DeepSeek, reasoning": {
			events(delta(`{"reasoning_content":"I "}`), delta(`{"reasoning_content":"look."}`), delta(`{"content":"Well.","reasoning_content":null}`), delta(`{"tool_calls":[`+call("")+`]}`)),
			`{"reasoning_content":"I look.","content":"Well."}`, `{}`,
		},
		"DeepSeek, empty reasoning": {events(delta(`{"reasoning_content":"","tool_calls":[` + call("") + `]}`)), `{"reasoning_content":""}`, `{}`},
		"DeepSeek, not streamed":    {`{"choices":[{"message":{"reasoning_content":"","tool_calls":[` + call("") + `]},"finish_reason":"tool_calls"}]}`, `{"reasoning_content":""}`, `{}`},
		"reasoning in another field": {
			events(delta(`{"reasoning":"Hm."}`), delta(`{"tool_calls":[`+call("")+`]}`)), `{"reasoning":"Hm."}`, `{}`,
		},
		"Gemini": {
			events(delta(`{"tool_calls":[` + call(`,"extra_content":{"google":{"thought_signature":"c2ln<&>","n":12345678901234567890}}`) + `]}`)),
			`{}`, `{"extra_content":{"google":{"thought_signature":"c2ln<&>","n":12345678901234567890}}}`,
		},
		"LiteLLM, in the function": {
			events(delta(`{"tool_calls":[{"id":"a","provider_specific_fields":{"s":1},"function":{"name":"bash","thought_signature":"x","arguments":"{\"command\":\"echo ONE\"}"}}]}`)),
			`{}`, `{"provider_specific_fields":{"s":1},"function":{"name":"bash","arguments":"{\"command\":\"echo ONE\"}","thought_signature":"x"}}`,
		},
		"OpenRouter, whole details": {
			events(delta(`{"reasoning":"Hm.","reasoning_details":[{"type":"reasoning.text","text":"Hm.","format":"f"},{"type":"reasoning.text","text":"Well.","format":"f"}]}`), delta(`{"tool_calls":[`+call("")+`]}`), delta(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"ZW5j","id":"a","index":1}]}`)),
			`{"reasoning":"Hm.","reasoning_details":[{"type":"reasoning.text","text":"Hm.","format":"f"},{"type":"reasoning.text","text":"Well.","format":"f"},{"type":"reasoning.encrypted","data":"ZW5j","id":"a","index":1}]}`, `{}`,
		},
		"OpenRouter, details in pieces": {
			events(delta(`{"reasoning_details":[{"type":"reasoning.text","text":"Hm","index":0}]}`), delta(`{"reasoning_details":[{"type":"reasoning.text","text":".","index":0}]}`), delta(`{"reasoning_details":[{"type":"reasoning.text","signature":"s","index":0}]}`), delta(`{"reasoning_details":[{"type":"reasoning.text","text":"Next","index":1}],"tool_calls":[`+call("")+`]}`)),
			`{"reasoning_details":[{"type":"reasoning.text","text":"Hm.","index":0,"signature":"s"},{"type":"reasoning.text","text":"Next","index":1}]}`, `{}`,
		},
		"thinking blocks": {
			events(delta(`{"thinking_blocks":[{"type":"thinking","thinking":"Hm.","signature":"s"}],"tool_calls":[` + call("") + `]}`)),
			`{"thinking_blocks":[{"type":"thinking","thinking":"Hm.","signature":"s"}]}`, `{}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chunks := c.chunks
			if !strings.HasPrefix(chunks, "{") {
				chunks += events(finish("tool_calls"), done)
			}
			s := playScript(t, chunks, events(delta(`{"content":"Done."}`), finish("stop"), done))
			opened := open(t, s.runtime(openai.Options{Retries: none()}))
			opened.prompt("go")
			opened.prompt("and on")
			again, err := s.runtime(openai.Options{}).Open(t.Context(), opened.host, agent.Config{SessionID: "s", Cwd: opened.dir.Path()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = again.Close() })
			opened.Session = again
			opened.prompt("after a restart")
			bodies := s.requests()
			if len(bodies) != 4 {
				t.Fatalf("%d requests", len(bodies))
			}
			for i, body := range bodies[1:] {
				all := assistants(body)
				if len(all) != 1 {
					t.Fatalf("request %d has %d messages with calls", i+2, len(all))
				}
				for key, want := range parsed(c.message) {
					if d := cmp.Diff(want, all[0][key]); d != "" {
						t.Errorf("request %d, %s (-want +got):\n%s", i+2, key, d)
					}
				}
				sent := all[0]["tool_calls"].([]any)[0].(map[string]any)
				for key, want := range parsed(c.call) {
					if d := cmp.Diff(want, sent[key]); d != "" {
						t.Errorf("request %d, %s of the call (-want +got):\n%s", i+2, key, d)
					}
				}
			}
		})
	}
}

// DeepSeek wants the field with each message that has calls, also where it sent none.
func TestReasoningGoesBackWithMessagesThatHadNone(t *testing.T) {
	t.Parallel()
	call := func(more string) string {
		return events(delta(`{`+more+`"tool_calls":[{"id":"a","function":{"name":"bash","arguments":"{\"command\":\"true\"}"}}]}`), finish("tool_calls"), done)
	}
	s := playScript(t, call(""), call(`"reasoning_content":"Hm.",`), call(""), fine(0))
	open(t, s.runtime(openai.Options{})).prompt("go")
	var got []any
	for _, m := range assistants(s.requests()[3]) {
		got = append(got, m["reasoning_content"])
	}
	if d := cmp.Diff([]any{"", "Hm.", ""}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func parsed(text string) (object map[string]any) {
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		panic(err)
	}
	return object
}

func TestWithoutStateNothingIsKeptOrSent(t *testing.T) {
	t.Parallel()
	s := playScript(t, events(delta(`{"tool_calls":[{"index":0,"id":"a","type":"function","extra":null,"function":{"name":"bash","arguments":"{\"command\":\"echo ONE\"}"}}]}`), finish("tool_calls"), done),
		events(delta(`{"content":"Done."}`), finish("stop"), done))
	all, _ := open(t, s.runtime(openai.Options{})).prompt("go")
	if c := agenttest.Each[trace.ToolCall](all); len(c) != 1 || c[0].ProviderState != nil {
		t.Errorf("on record is %+v", c)
	}
	want := parsed(`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"bash","arguments":"{\"command\":\"echo ONE\"}"}}]}`)
	if d := cmp.Diff(want, assistants(s.requests()[1])[0]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

//evidence:for limit-answer-extras
func TestAStateBeyondItsBoundIsLeftOut(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes many megabytes")
	}
	s := playScript(t, events(delta(`{"tool_calls":[{"id":"a","extra":"`+strings.Repeat("x", 2<<20)+`","function":{"name":"bash","arguments":"{\"command\":\"echo ONE\"}"}}]}`), finish("stop")),
		events(delta(`{"content":"Done."}`), finish("stop"), done))
	all, stop := open(t, s.runtime(openai.Options{})).prompt("go")
	if c := agenttest.Each[trace.ToolCall](all); len(c) != 1 || c[0].ProviderState != nil || stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("on record are %d bytes, ended as %+v", len(c[0].ProviderState), stop)
	}
}

// Reasoning without a summary has no record of its own.
func TestSealedReasoningWithoutASummaryGoesBackInLaterTurns(t *testing.T) {
	t.Parallel()
	s := playScript(t, events(item("done", `{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"sealed"}`), item("done", echoOne), completed()), events(completed(hello)))
	opened := open(t, s.runtime(openai.Options{API: "responses"}))
	opened.prompt("go")
	opened.prompt("and on")
	for i, body := range s.requests()[1:] {
		raw, _ := json.Marshal(body["input"])
		if n := strings.Count(string(raw), `"encrypted_content":"sealed"`); n != 1 {
			t.Errorf("request %d has the reasoning %d times: %s", i+2, n, raw)
		}
	}
}

//evidence:for limit-answer limit-answer-extras
func TestAnAnswerHasBounds(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes many megabytes")
	}
	many := func(n int, chunk func(int) string) string {
		var all []string
		for i := range n {
			all = append(all, chunk(i))
		}
		return events(append(all, finish("stop"))...)
	}
	for name, c := range map[string][2]string{
		"calls": {many(200, func(i int) string {
			return delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"bash"}}]}`, i, i))
		}), "more than 128 calls"},
		"parts":  {many(3000, func(int) string { return delta(`{"reasoning":"a","content":"b"}`) }), "more than 2000 parts"},
		"bytes":  {many(70, func(int) string { return delta(`{"content":"` + strings.Repeat("x", 1<<20) + `"}`) }), "more than 64 MB"},
		"values": {events(`{"choices":[` + strings.Repeat("{},", 1<<20) + `{}]}`), "a very large number of JSON values"},
		"list":   {"[" + strings.Repeat("{},", 1<<20) + "{}]", "a very large number of JSON values"},
		"events": {"data: " + strings.Repeat("x", 66<<20) + "\n\n", "more than 64 MB in one event"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, stop := open(t, playScript(t, c[0]).runtime(openai.Options{Retries: none()})).prompt("go")
			if want := "sent " + c[1] + " in one answer: ask for a shorter answer."; stop.Outcome != trace.OutcomeFailed || !strings.HasSuffix(stop.Error, want) {
				t.Errorf("ended as %s: %.300s", stop.Outcome, stop.Error)
			}
		})
	}
	sources := many(500, func(i int) string {
		return delta(fmt.Sprintf(`{"annotations":[{"url":"https://example.org/%d"}],"images":[{"b64_json":"aGk="}]}`, i))
	})
	all, _ := open(t, playScript(t, sources).runtime(openai.Options{})).prompt("go")
	if s, f := len(agenttest.Each[trace.Source](all)), len(agenttest.Each[trace.File](all)); s != 200 || f != 16 {
		t.Errorf("%d sources and %d files are on record", s, f)
	}
}
