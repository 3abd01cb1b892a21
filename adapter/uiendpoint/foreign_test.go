package uiendpoint_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/uiendpoint"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// answering is an endpoint that gives each prompt the same answer.
func answering(t *testing.T, media, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{media}
		if media == "" {
			w.Header()["Content-Type"] = nil
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func lines(chunks ...string) string { return "data: " + strings.Join(chunks, "\n\ndata: ") + "\n\n" }

// TestHandWrittenEndpoints: an endpoint as people write one by hand, which the stock clients read.
func TestHandWrittenEndpoints(t *testing.T) {
	t.Parallel()
	whole := lines(`{"type":"text-start","id":"1"}`, `{"type":"text-delta","id":"1","delta":"Hel"}`, `{"type":"text-delta","id":"1","delta":"lo"}`, `{"type":"text-end","id":"1"}`, `{"type":"finish"}`)
	for name, c := range map[string]struct{ media, body string }{
		"without a start and without [DONE]": {"text/event-stream", whole},
		"without ids":                        {"text/event-stream", strings.ReplaceAll(whole, `,"id":"1"`, "")},
		"without beginnings and ends":        {"text/event-stream", lines(`{"type":"text-delta","delta":"Hel"}`, `{"type":"text-delta","delta":"lo"}`, "[DONE]")},
		"with the text under another name":   {"text/event-stream", strings.ReplaceAll(whole, "delta\":", "textDelta\":")},
		"as plain text":                      {"text/plain; charset=utf-8", whole},
		"as bytes":                           {"application/octet-stream", whole},
		"without a media type":               {"", whole},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events, stop := newConversation(t, answering(t, c.media, c.body), uiendpoint.Settings{}).plays("hello")
			texts := agenttest.Each[trace.Message](events)
			if len(texts) != 1 || texts[0].Text != "Hello" || stop.Outcome != trace.OutcomeCompleted {
				t.Errorf("the turn said %+v and ended with %+v", texts, stop)
			}
		})
	}
}

// TestLaravel: the chunks that the package laravel/ai documents; early releases began a thought with each of its words.
func TestLaravel(t *testing.T) {
	t.Parallel()
	for name, word := range map[string]string{"now": "reasoning-delta", "before": "reasoning-start"} {
		body := lines(`{"type":"start","messageId":"m"}`, `{"type":"start-step"}`, `{"type":"reasoning-start","id":"r"}`, `{"type":"`+word+`","id":"r","delta":"So "}`, `{"type":"`+word+`","id":"r","delta":"it is."}`, `{"type":"reasoning-end","id":"r"}`,
			`{"type":"tool-input-available","toolCallId":"c","toolName":"Weather","input":{"city":"Paris"}}`, `{"type":"tool-output-available","toolCallId":"c","output":"Sunny"}`, `{"type":"finish-step"}`, `{"type":"start-step"}`,
			`{"type":"custom","kind":"openai.web_search","providerMetadata":{"openai":{"status":"done"}}}`, `{"type":"source-url","sourceId":"https://a.test","url":"https://a.test"}`,
			`{"type":"text-start","id":"t"}`, `{"type":"text-delta","id":"t","delta":"Sunny."}`, `{"type":"text-end","id":"t"}`, `{"type":"finish-step"}`, `{"type":"finish","finishReason":"stop","messageMetadata":{"usage":{"inputTokens":3}}}`, "[DONE]")
		events, stop := newConversation(t, answering(t, "text/event-stream", body), uiendpoint.Settings{}).plays("hello")
		thoughts, results, texts := agenttest.Each[trace.Thought](events), agenttest.Each[trace.ToolResult](events), agenttest.Each[trace.Message](events)
		if len(thoughts) != 1 || thoughts[0].Text != "So it is." || len(results) != 1 || string(results[0].Output) != `"Sunny"` || len(texts) != 1 || texts[0].Text != "Sunny." || stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("%s: the turn thought %+v, got %+v, said %+v and ended with %+v", name, thoughts, results, texts, stop)
		}
	}
}

func TestEndpointsOfAnotherProtocolFailWithOneSentence(t *testing.T) {
	t.Parallel()
	const speaks = "The endpoint does not speak the UI message stream of AI SDK 5 and later, as toUIMessageStreamResponse() writes it: the stream begins with "
	version4 := "f:{\"messageId\":\"m\"}\n0:\"Hel\"\n0:\"lo\"\nd:{\"finishReason\":\"stop\"}\n"
	for name, c := range map[string]struct{ media, body, want string }{
		"the data stream of AI SDK 4":              {"text/plain", version4, speaks + `"f:{\"messageId\":\"m\"}"`},
		"the data stream of AI SDK 4, as an event": {"text/event-stream", version4, speaks + `"f:{\"messageId\":\"m\"}"`},
		"the data stream of AI SDK 4, in events":   {"text/event-stream", lines(`0:"Hel"`, `0:"lo"`), speaks + `"0:\"Hel\""`},
		"the text stream":                          {"text/plain", "Hello, here I am.\nHow are you?", speaks + `"Hello, here I am."`},
		"text in events":                           {"text/event-stream", lines("Hel", "lo", "[DONE]"), speaks + `"Hel"`},
		"chat completions":                         {"text/event-stream", lines(`{"choices":[]}`, "[DONE]"), speaks + `"{\"choices\":[]}"`},
		"JSON lines":                               {"application/x-ndjson", `{"type":"text-delta"}`, "application/x-ndjson and no stream of events: is the address right?"},
		"an error instead of a stream":             {"application/json", `{"error":"Rate limited."}`, `failed: the server says "Rate limited.": the answer is application/json and no stream of events: is the address right?`},
		"an error of another shape":                {"application/json", `[{"error":{"code":7,"message":"The quota is\nused up."}}]`, `failed: the server says "The quota is used up.": the answer is application/json and no stream of events: is the address right?`},
		"a whole answer":                           {"application/json", `{ "text": "Hello." }`, `failed: the server says "{ \"text\": \"Hello.\" }": the answer is application/json and no stream of events: is the address right?`},
		"no JSON":                                  {"application/json", "the model\n is loading", `failed: the server says "the model is loading": the answer is application/json and no stream of events: is the address right?`},
		"a page":                                   {"text/html", `<html><head><title>Sign in</title><style>a{}</style></head><body>Who &amp; where?</body></html>`, `failed: the server says "Sign in Who & where?": the answer is text/html and no stream of events: is the address right?`},
		"nothing":                                  {"application/json", "", `failed: the answer is application/json and no stream of events: is the address right?`},
		"an error as text":                         {"text/plain", "{\n  \"error\": \"Rate limited.\"\n}\n", speaks + `"{\"error\":\"Rate limited.\"}"`},
		"an error as an event":                     {"text/event-stream", lines(`{"error":"Rate limited."}`), speaks + `"{\"error\":\"Rate limited.\"}"`},
		"a call without an id":                     {"text/event-stream", lines(`{"type":"tool-input-available","tool_call_id":"c","tool_name":"t","input":{}}`, "[DONE]"), "The endpoint sent a chunk tool-input-available without a toolCallId."},
		"an error under another name":              {"text/event-stream", lines(`{"type":"error","error":"The model is down."}`), "The model is down."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, stop := newConversation(t, answering(t, c.media, c.body), uiendpoint.Settings{}).plays("hello"); stop.Outcome != trace.OutcomeFailed || !strings.HasSuffix(stop.Error, c.want) {
				t.Errorf("the turn ended with %+v", stop)
			}
		})
	}
}

func TestARefusalWithoutAReasonSaysWhereToLook(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		http.StatusNotFound:            "The endpoint did not take the prompt: Not Found (status 404): is the address %s/chaat right?",
		http.StatusMethodNotAllowed:    "The endpoint did not take the prompt: Method Not Allowed (status 405): is the address %s/chaat right?",
		http.StatusUnauthorized:        "The endpoint did not take the prompt: Unauthorized (status 401): is its token right?",
		http.StatusInternalServerError: "The endpoint did not take the prompt: Internal Server Error (status 500): its own log says why",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(s.Close)
		if _, stop := newConversation(t, s.URL+"/chaat", uiendpoint.Settings{}).plays("hello"); stop.Error != strings.ReplaceAll(want, "%s", s.URL) {
			t.Errorf("the turn ended with %+v", stop)
		}
	}
}
