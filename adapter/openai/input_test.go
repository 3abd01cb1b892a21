package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/openai"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// serve is an endpoint of the test's own.
func serve(t *testing.T, h http.HandlerFunc) *fake {
	t.Helper()
	f := &fake{Server: httptest.NewServer(h)}
	t.Cleanup(f.Close)
	return f
}

func none() *int { n := 0; return &n }

// answers is a handler with one answer.
func answers(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func TestBadInputIsReportedInOneSentenceThatSaysWhatToDo(t *testing.T) {
	const sse, jsn = "text/event-stream", "application/json"
	for _, c := range []struct {
		name   string
		h      http.HandlerFunc
		want   string
		reason string
	}{
		{
			"wrong key", answers(401, jsn, `{"error":{"message":"Incorrect API key provided.","code":"invalid_api_key"}}`),
			"refuses the key (401: Incorrect API key provided): set agents.local.token_env to an environment variable with a valid key.", "error",
		},
		{
			"unknown model", answers(404, jsn, `{"error":{"message":"model \"tiny\" not found, try pulling it first"}}`),
			`does not know the model tiny, or has no such address (404: model "tiny" not found, try pulling it first): correct agents.local.model or agents.local.url.`, "error",
		},
		{"error as text", answers(404, "text/plain", "404 page not found"), "(404: 404 page not found)", "error"},
		{"error as string", answers(400, jsn, `{"error":"bad template"}`), "refused the request (400: bad template)", "error"},
		{"no tools", answers(400, jsn, `{"error":{"message":"tiny does not support tools"}}`), "set agents.local.options.tools to []", "error"},
		{"a web page", answers(200, "text/html; charset=utf-8", "<html>Welcome</html>"), "answers with a web page and not as a model's endpoint: correct agents.local.url, which often ends with /v1.", "error"},
		{"an error page", answers(404, "text/html", "<html>Not found</html>"), "answers with a web page", "error"},
		{"garbage", answers(200, sse, "data: {nonsense\n\n"), "sent what is no answer of a model", "error"},
		{"another interface", answers(200, jsn, `{"id":"x","completion":"hi"}`), `sent what is no answer of a model ({"id":"x","completion":"hi"}): see whether agents.local.url and options.api fit it.`, "error"},
		{"nothing", answers(200, sse, ""), "sent an empty answer: ask again.", "error"},
		{"nothing but an end", answers(200, sse, "data: [DONE]\n\n"), "sent an empty answer: ask again.", "error"},
		{"white space", answers(200, sse, "\n\n \n"), "sent an empty answer: ask again.", "error"},
		{"plain words", answers(200, "text/plain", "upstream\nis gone"), "sent what is no answer of a model (upstream is gone)", "error"},
		{"half an object", answers(200, jsn, `{"choices":[{"mess`), "ended in the middle of the answer: ask again.", "error"},
		{"an error as an answer", answers(200, jsn, `{"error":{"message":"The model is loading."}}`), "The endpoint reported an error (The model is loading): ask again.", "error"},
		{"an error of another form", answers(200, jsn, `{"detail":"The model is loading."}`), "The endpoint reported an error (The model is loading): ask again.", "error"},
		{"an error in a list", answers(200, jsn, `[{"error":{"code":429,"message":"Quota."}}]`), "takes no more requests for now (429: Quota): ask again later.", "error"},
		{"an error object", answers(200, sse, `data: {"object":"error","message":"It fell over.","code":500}`+"\n\n"), "The endpoint failed (500: It fell over): ask again later.", "error"},
		{"an error event", answers(200, sse, "event: error\ndata: {\"message\":\"It fell over.\"}\n\n"), "The endpoint reported an error (It fell over): ask again.", "error"},
		{"an error event of words", answers(200, sse, "event: error\ndata: It fell over.\n\n"), "The endpoint reported an error (It fell over): ask again.", "error"},
		{"an error and no choices", answers(200, sse, `data: {"choices":null,"error_type":"BadRequestError","error_message":"It is too big."}`+"\n\n"), "The endpoint reported an error (It is too big): ask again.", "error"},
		{"the words of the provider behind", answers(400, jsn, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":\"no tools here\"}"}}}`), "(400: Provider returned error: no tools here)", "error"},
		{"a page of a proxy", answers(502, "text/html", "<html>"), "The endpoint failed (502: Bad Gateway): ask again later.", "error"},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/other?key=secret", http.StatusFound)
		}, "(302: the endpoint redirects to /other)", "error"},
		{"context, by code", answers(400, jsn, `{"error":{"message":"too long","code":"context_length_exceeded"}}`), "longer than the model tiny can read: begin a new session, or set agents.local.options.context_tokens", "context_length"},
		{"context, by words", answers(400, jsn, `{"error":{"message":"the request exceeds the available context size"}}`), "longer than the model tiny can read", "context_length"},
		{"no quota", answers(429, jsn, `{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}`), "has no quota left (429: You exceeded your quota): see to its billing.", "error"},
		{"broken", answers(503, jsn, `{"error":{"message":"loading model"}}`), "The endpoint failed (503: loading model): ask again later.", "error"},
	} {
		for _, api := range []string{"chat", "responses"} {
			t.Run(c.name+" "+api, func(t *testing.T) {
				f := serve(t, c.h)
				_, stop := open(t, f.runtime(openai.Options{API: api, Retries: none()})).prompt("hello")
				if stop.Outcome != trace.OutcomeFailed || stop.Reason != c.reason || !strings.Contains(stop.Error, c.want) {
					t.Errorf("the turn ended as %s (%s): %s\nwant %s", stop.Outcome, stop.Reason, stop.Error, c.want)
				}
				if strings.Contains(strings.TrimRight(stop.Error, "."), "\n") {
					t.Errorf("that is no one sentence: %q", stop.Error)
				}
			})
		}
	}
}

func TestAddressWhereNothingAnswers(t *testing.T) {
	f := serve(t, nil)
	f.Close()
	r := f.runtime(openai.Options{})
	r.URL += "?key=secret-key"
	_, stop := open(t, r).prompt("hello")
	if want := "Nothing answers at " + f.URL + "/v1: start the endpoint, or correct agents.local.url."; stop.Error != want {
		t.Errorf("the turn ended with %q, want %q", stop.Error, want)
	}
	if _, err := f.runtime(openai.Options{}).Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "Nothing answers") {
		t.Errorf("Probe says %v", err)
	}
}

func TestSettingsThatCannotBeMeant(t *testing.T) {
	for options, want := range map[string]string{
		`{"api":"completions"}`:     `options.api is "completions": write chat or responses`,
		`{"tools":["rm"]}`:          `options.tools has "rm": the tools are read_file, write_file, edit_file, list_dir, grep, bash`,
		`{"mcp":{"x":{}}}`:          "options.mcp.x needs either a command or a url",
		`{"temperature":1}`:         `options have the key "temperature", which the adapter does not know`,
		`{"patience":"long"}`:       `"long" is no duration`,
		`{"budget":{"turn_usd":1}}`: "options.budget bounds dollars, and the prices are unknown",
		`{"mcp":{"x":{"url":"http://x","token_env":"NO_SUCH"}}}`: "options.mcp.x.token_env names NO_SUCH",
	} {
		_, err := openai.Adapter("openai").New(agent.Settings{Name: "local", URL: "http://127.0.0.1:1/v1", Model: "m", Options: []byte(options)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", options, err, want)
		}
	}
	if _, err := openai.Adapter("openai").New(agent.Settings{URL: "localhost:11434", Model: "m"}); err == nil || !strings.Contains(err.Error(), "write a base address such as") {
		t.Errorf("a URL without a scheme: %v", err)
	}
	if _, err := openai.Adapter("openai").New(agent.Settings{URL: "http://localhost:11434"}); err == nil || !strings.Contains(err.Error(), "model is missing") {
		t.Errorf("no model: %v", err)
	}
}

func TestSilentEndpointEndsTheTurn(t *testing.T) {
	for _, begin := range []string{"", "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"so far\"}}]}\n\n"} {
		f := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client has gone
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, begin)
			if begin != "" {
				w.(http.Flusher).Flush()
			}
			<-r.Context().Done()
		})
		_, stop := open(t, f.runtime(openai.Options{Patience: agent.Duration(150 * time.Millisecond)})).prompt("hello")
		if stop.Reason != "timeout" || !strings.Contains(stop.Error, "silent for 150ms: see whether it still works, or raise agents.local.options.patience") {
			t.Errorf("the turn ended as %+v", stop)
		}
	}
}

// Some servers leave the connection open behind the answer.
func TestAnAnswerEndsWhereTheServerSaysSo(t *testing.T) {
	for name, end := range map[string]string{"a word": "data: " + finish("stop") + "\n\n", "DONE": "data: [DONE]\n\n"} {
		t.Run(name, func(t *testing.T) {
			f := serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, "data: "+delta(`{"content":"All."}`)+"\n\n"+end)
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			})
			events, stop := open(t, f.runtime(openai.Options{Patience: agent.Duration(300 * time.Millisecond)})).prompt("hello")
			if stop.Outcome != trace.OutcomeCompleted || agenttest.Said(events) != "All.\n" {
				t.Errorf("said %q, ended as %+v", agenttest.Said(events), stop)
			}
		})
	}
}

// A connection is used again: a handshake for each model call would be slow.
func TestModelCallsShareAConnection(t *testing.T) {
	var from sync.Map
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		from.Store(r.RemoteAddr, true)
		answers(200, "text/event-stream", fine(0))(w, r)
		w.(http.Flusher).Flush()
		select { // the end of the answer comes in a packet of its own
		case <-r.Context().Done():
		case <-time.After(10 * time.Millisecond):
		}
	})
	s := open(t, f.runtime(openai.Options{}))
	for range 4 {
		s.prompt("hello")
	}
	n := 0
	from.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestAnErrorInMidStreamKeepsTheText(t *testing.T) {
	const begin = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"so far\"}}]}\n\n"
	for name, end := range map[string]string{
		"an error event": "data: {\"error\":{\"message\":\"out of memory\"}}\n\n",
		"a cut":          "",
		"garbage":        "data: }{\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			f := serve(t, func(w http.ResponseWriter, r *http.Request) {
				requests++
				answers(200, "text/event-stream", begin+end)(w, r)
			})
			events, stop := open(t, f.runtime(openai.Options{})).prompt("hello")
			if stop.Outcome != trace.OutcomeFailed || agenttest.Said(events) != "so far\n" {
				t.Errorf("said %q, ended as %+v", agenttest.Said(events), stop)
			}
			if requests != 1 {
				t.Errorf("the model was asked %d times: what was shown must not be said again", requests)
			}
		})
	}
}

func TestRetriesAreVisibleAndHeedTheEndpoint(t *testing.T) {
	requests := 0
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if requests++; requests <= 2 {
			w.Header().Set("Retry-After-Ms", "60")
			answers(429, "application/json", `{"error":{"message":"slow down"}}`)(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		writeChat(w, r, reply{text: "Hello."})
	})
	began := time.Now()
	events, stop := open(t, f.runtime(openai.Options{})).prompt("hello")
	if stop.Outcome != trace.OutcomeCompleted || time.Since(began) > time.Minute || time.Since(began) < 120*time.Millisecond {
		t.Errorf("after %s the turn ended as %+v", time.Since(began), stop)
	}
	got := notices(events)
	if len(got) != 2 || got[0] != "The model call failed (429: slow down). Trying again in 100ms (1 of 3)." {
		t.Errorf("the user reads %q", got)
	}
}

func TestWhichFailuresAreTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		status        int
		header, value string
		body          string
		tries         int
	}{
		"conflict":            {409, "", "", `{}`, 2},
		"timeout":             {408, "", "", `{}`, 2},
		"bad gateway":         {502, "", "", `{}`, 2},
		"bad request":         {400, "", "", `{}`, 1},
		"the server's yes":    {400, "X-Should-Retry", "true", `{}`, 2},
		"the server's no":     {500, "X-Should-Retry", "false", `{}`, 1},
		"no quota":            {429, "", "", `{"error":{"code":"insufficient_quota"}}`, 1},
		"a date that is past": {503, "Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT", `{}`, 2},
		"a date far away":     {503, "Retry-After", "Fri, 31 Dec 2100 23:59:59 GMT", `{}`, 1},
		"an error as answer":  {200, "", "", `{"error":"The model is loading."}`, 2},
		"a refusal as answer": {200, "", "", `{"error":{"message":"no","type":"invalid_request_error"}}`, 1},
		"nothing":             {200, "", "", ``, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requests := 0
			f := serve(t, func(w http.ResponseWriter, r *http.Request) {
				requests++
				if c.header != "" {
					w.Header().Set(c.header, c.value)
				} else {
					w.Header().Set("Retry-After-Ms", "1")
				}
				if requests > 1 {
					w.Header().Set("Content-Type", "text/event-stream")
					writeChat(w, r, reply{text: "Hello."})
					return
				}
				answers(c.status, "application/json", c.body)(w, r)
			})
			if open(t, f.runtime(openai.Options{})).prompt("hello"); requests != c.tries {
				t.Errorf("%d requests, want %d", requests, c.tries)
			}
		})
	}
}

// Some servers repeat the key in their errors.
func TestTheKeyIsInNoError(t *testing.T) {
	t.Setenv("MY_KEY", "sk-secret")
	for _, body := range []string{`{"error":{"message":"The key sk-secret is wrong."}}`, `sk-secret?`} {
		f := serve(t, answers(503, "application/json", body))
		r := f.runtime(openai.Options{Retries: new(1)})
		r.TokenEnv = "MY_KEY"
		events, stop := open(t, r).prompt("hello")
		if said := fmt.Sprint(notices(events), stop); strings.Contains(said, "sk-secret") || !strings.Contains(said, "503") {
			t.Error(said)
		}
	}
}

func TestStopDuringARetryIsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "60")
		answers(503, "application/json", `{}`)(w, r)
		time.AfterFunc(50*time.Millisecond, cancel)
	})
	began := time.Now()
	_, stop := open(t, f.runtime(openai.Options{})).play(ctx, trace.InputPart{Type: trace.InputText, Text: "hello"})
	if stop.Outcome != trace.OutcomeCanceled || time.Since(began) > 3*time.Second {
		t.Errorf("after %s the turn ended as %+v", time.Since(began), stop)
	}
}

func TestEndpointThatWantsALongWaitIsNotWaitedFor(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3600")
		answers(429, "application/json", `{}`)(w, r)
	})
	if _, stop := open(t, f.runtime(openai.Options{})).prompt("hello"); stop.Outcome != trace.OutcomeFailed {
		t.Errorf("the turn ended as %+v", stop)
	}
}

func TestKeyOfTheGatewaysEnvironmentIsNotSent(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "secret")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: secret")
	t.Setenv("MY_KEY", "mine")
	f := newFake(t, actor)
	open(t, f.runtime(openai.Options{})).prompt("hello")
	r := f.runtime(openai.Options{})
	r.TokenEnv = "MY_KEY"
	open(t, r).prompt("hello")
	if h := f.heads[0]; h.Get("Authorization") != "" || h.Get("X-Secret") != "" {
		t.Errorf("without a key the endpoint is sent %v", h)
	}
	if h := f.heads[1]; h.Get("Authorization") != "Bearer mine" {
		t.Errorf("the endpoint is sent %q", h.Get("Authorization"))
	}
}

// A list of models without an end is not read to its end.
func TestAListOfModelsHasABound(t *testing.T) {
	sent := 0
	f := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[`)
		model := []byte(strings.Repeat(`{"id":"m","object":"model"},`, 1000))
		for ; sent < 200<<20; sent += len(model) {
			if _, err := w.Write(model); err != nil {
				return
			}
		}
	})
	if version, err := f.runtime(openai.Options{}).Probe(t.Context()); err == nil {
		t.Errorf("the list was read, and Probe says %q", version)
	}
	f.Close()
	if sent >= 100<<20 {
		t.Errorf("%d MB of the list were sent", sent>>20)
	}
}
