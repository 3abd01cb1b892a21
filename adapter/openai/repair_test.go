package openai_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/openai"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// judge is an endpoint that refuses requests: refuse returns the body of a 400, or "".
func judge(t *testing.T, refuse func(messages string) string, says func(n int) string) *fake {
	t.Helper()
	f := &fake{}
	served := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		f.mu.Lock()
		f.bodies = append(f.bodies, body)
		n := len(f.bodies)
		f.mu.Unlock()
		raw, _ := json.Marshal(body["messages"])
		if why := refuse(string(raw)); why != "" {
			answers(400, "application/json", why)(w, r)
			return
		}
		answers(200, "text/event-stream", says(n))(w, r)
	})
	f.Server = served.Server
	return f
}

func fine(int) string { return events(delta(`{"content":"Fine."}`), finish("stop"), done) }

func text(words string) trace.InputPart { return trace.InputPart{Type: trace.InputText, Text: words} }

func (f *fake) newest() string {
	all := f.requests()
	raw, _ := json.Marshal(all[len(all)-1]["messages"])
	return string(raw)
}

// A model without vision refuses each request that holds a picture.
func TestARefusedFileDoesNotEndTheSession(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]trace.InputPart{
		"a picture": {Type: trace.InputFile, MediaType: "image/png", Filename: "a.png", URL: "data:image/png;base64,aGk="},
		"a file":    {Type: trace.InputFile, MediaType: "application/pdf", Filename: "a.png", URL: "data:application/pdf;base64,aGk="},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := judge(t, func(messages string) string {
				if strings.Contains(messages, `"image_url"`) || strings.Contains(messages, `"file_data"`) {
					return `{"error":{"message":"Only words can be read here."}}`
				}
				return ""
			}, fine)
			s := open(t, f.runtime(openai.Options{}))
			all, stop := s.play(t.Context(), text("look"), file)
			want := "The endpoint refused the attached files (400: Only words can be read here). The model tiny got their names only, in this request and in later ones."
			if got := notices(all); stop.Outcome != trace.OutcomeCompleted || len(got) != 1 || got[0] != want {
				t.Errorf("the user reads %q, ended as %+v", got, stop)
			}
			for range 2 {
				all, stop := s.prompt("hello?")
				if got := notices(all); stop.Outcome != trace.OutcomeCompleted || len(got) != 0 {
					t.Errorf("the next turn says %q, ended as %+v", got, stop)
				}
			}
			if n := len(f.requests()); n != 4 {
				t.Errorf("%d requests: later ones must begin with words", n)
			}
			if got := f.newest(); !strings.Contains(got, "The user attached the file a.png") || !strings.Contains(got, "look") {
				t.Errorf("the model was sent %s", got)
			}
		})
	}
}

func TestARefusedMessageIsLeftOutLater(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"by its content": {`{"error":{"message":"The prompt breaks the rules.","code":"content_policy"}}`, "error"},
		"by its length":  {`{"error":{"message":"too long","code":"context_length_exceeded"}}`, "context_length"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := judge(t, func(messages string) string {
				if strings.Contains(messages, "POISON") {
					return c[0]
				}
				return ""
			}, fine)
			s := open(t, f.runtime(openai.Options{}))
			s.prompt("My river is the Rhine.")
			all, stop := s.prompt("POISON")
			if got := notices(all); stop.Outcome != trace.OutcomeFailed || stop.Reason != c[1] || len(got) == 0 || got[len(got)-1] != "The endpoint refused this message, so later requests leave the message out, and earlier ones without an answer." {
				t.Errorf("the user reads %q, ended as %+v", got, stop)
			}
			if _, stop := s.prompt("hello?"); stop.Outcome != trace.OutcomeCompleted {
				t.Errorf("the next turn ended as %+v", stop)
			}
			if got := f.newest(); strings.Contains(got, "POISON") || !strings.Contains(got, "hello?") {
				t.Errorf("the model was sent %s", got)
			}
		})
	}
}

// Servers refuse files with other statuses, too.
func TestARefusalOfFilesIsKnownByItsWords(t *testing.T) {
	t.Parallel()
	for _, first := range []string{
		`500 {"error":{"code":500,"message":"image input is not supported - hint: provide the mmproj"}}`,
		`404 {"error":{"message":"No endpoints found that support image input","code":404}}`,
		`413 <html>`,
		`422 {"detail":[{"msg":"Input should be a valid string"}]}`,
		events(`{"error":{"message":"This model has no vision."}}`),
	} {
		s := playScript(t, first, fine(0))
		all, stop := open(t, s.runtime(openai.Options{Retries: none()})).play(t.Context(), text("look"), trace.InputPart{Type: trace.InputFile, MediaType: "image/png", URL: "data:image/png;base64,aGk="})
		if got := notices(all); stop.Outcome != trace.OutcomeCompleted || len(got) != 1 || !strings.HasPrefix(got[0], "The endpoint refused the attached files (") {
			t.Errorf("after %.60s the user reads %q, ended as %+v", first, got, stop)
		}
	}
	s := playScript(t, `500 {"error":"fell over"}`)
	if open(t, s.runtime(openai.Options{Retries: none()})).play(t.Context(), text("look"), trace.InputPart{Type: trace.InputFile, MediaType: "image/png", URL: "data:image/png;base64,aGk="}); len(s.requests()) != 1 {
		t.Errorf("%d requests after another failure", len(s.requests()))
	}
}

// A session that goes on with another endpoint holds the state of the first one.
func TestTheStateOfAnotherEndpointIsLeftOutIfItIsRefused(t *testing.T) {
	t.Parallel()
	var strict atomic.Bool
	f := judge(t, func(messages string) string {
		if strict.Load() && strings.Contains(messages, "reasoning_content") {
			return `{"error":{"message":"Unknown parameter: messages[1].reasoning_content."}}`
		}
		return ""
	}, func(n int) string {
		if n == 1 {
			return events(delta(`{"reasoning_content":"Hm.","tool_calls":[{"id":"a","function":{"name":"bash","arguments":"{\"command\":\"true\"}"}}]}`), finish("tool_calls"), done)
		}
		return fine(n)
	})
	s := open(t, f.runtime(openai.Options{Retries: none()}))
	s.prompt("go")
	strict.Store(true)
	var told []string
	for range 3 {
		all, stop := s.prompt("and on")
		if told = append(told, notices(all)...); stop.Outcome != trace.OutcomeCompleted {
			t.Fatalf("the turn ended as %+v", stop)
		}
	}
	if len(told) != 1 || !strings.HasPrefix(told[0], "The endpoint refused the provider state of earlier calls (400: Unknown parameter") || len(f.requests()) != 6 {
		t.Errorf("%d requests, the user reads %q", len(f.requests()), told)
	}
}

// The user reads the first refusal, and not what the attempt to repair met.
func TestTheFirstRefusalIsTold(t *testing.T) {
	t.Parallel()
	s := playScript(t, `400 {"error":"The prompt breaks the rules."}`, `400 {"error":"Something else."}`)
	_, stop := open(t, s.runtime(openai.Options{})).play(t.Context(), text("POISON"), trace.InputPart{Type: trace.InputFile, MediaType: "image/png", URL: "data:image/png;base64,aGk="})
	if !strings.Contains(stop.Error, "The prompt breaks the rules") {
		t.Errorf("ended as %+v", stop)
	}
}

// A message that was stopped before the server refused it does not end the session either.
func TestAnUnansweredMessageIsLeftOutTogetherWithTheNext(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		switch {
		case asked.Add(1) == 1:
			answers(401, "application/json", `{}`)(w, r)
		case strings.Contains(string(raw), "POISON"):
			answers(400, "application/json", `{}`)(w, r)
		default:
			answers(200, "text/event-stream", fine(0))(w, r)
		}
	})
	s := open(t, f.runtime(openai.Options{Retries: none()}))
	s.prompt("POISON")
	s.prompt("hello?")
	if _, stop := s.prompt("still there?"); stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("the session is lost: %+v", stop)
	}
}

// A wrong key or a wrong model is not the message's fault.
func TestAMessageIsNotLeftOutForOtherReasons(t *testing.T) {
	t.Parallel()
	for _, first := range []string{`401 {"error":"no key"}`, `404 {"error":"no such model"}`, `429 {"error":"later"}`, `500 {"error":"fell over"}`, events(delta(`{"content":"So "}`), `{"error":{"code":400,"message":"no"}}`)} {
		s := playScript(t, first, fine(0))
		opened := open(t, s.runtime(openai.Options{Retries: none()}))
		opened.prompt("My river is the Rhine.")
		opened.prompt("hello?")
		if got := s.newest(); !strings.Contains(got, "the Rhine") {
			t.Errorf("after %.40s the model was sent %s", first, got)
		}
	}
}

// The chat template of Devstral wants user and assistant in turns, and counts no calls.
func devstral(messages string) string {
	var all []struct {
		Role      string
		ToolCalls []any `json:"tool_calls"`
	}
	_ = json.Unmarshal([]byte(messages), &all)
	user := true
	for _, m := range all {
		if m.Role == "user" || m.Role == "assistant" && len(m.ToolCalls) == 0 {
			if (m.Role == "user") != user {
				return `{"error":{"message":"User and assistant have to take turns."}}`
			}
			user = !user
		}
	}
	return ""
}

func TestATurnThatEndsBehindACallIsClosed(t *testing.T) {
	t.Parallel()
	calls := func(command string) string {
		return events(delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"command\":\"`+command+`\"}"}}]}`), finish("tool_calls"), done)
	}
	for name, c := range map[string]struct{ first, second, want string }{
		"stopped":   {calls("sleep 20"), fine(0), "(The turn was stopped here.)"},
		"failed":    {calls("true"), events(`{"error":{"message":"No memory left."}}`), "(The turn failed here.)"},
		"no answer": {calls("true"), events(finish("stop"), done), "(The turn ended here without an answer.)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := judge(t, devstral, func(n int) string { return []string{c.first, c.second, fine(0), fine(0)}[n-1] })
			s := open(t, f.runtime(openai.Options{Retries: none()}))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if name == "stopped" {
				asked := s.host.OnPermit
				s.host.OnPermit = func(ctx context.Context, r trace.PermissionRequest) trace.PermissionResponse {
					time.AfterFunc(50*time.Millisecond, cancel)
					return asked(ctx, r)
				}
			}
			s.play(ctx, text("go"))
			_, stop := s.prompt("again")
			if got := f.newest(); stop.Outcome != trace.OutcomeCompleted || !strings.Contains(got, c.want) {
				t.Errorf("ended as %+v, the model was sent %s", stop, got)
			}
		})
	}
}

// summarizer is a model with a context of so many bytes.
func summarizer(t *testing.T, size int) *fake {
	t.Helper()
	var f *fake
	f = judge(t, func(messages string) string {
		if len(messages) > size {
			return `{"error":{"message":"too long","code":"context_length_exceeded"}}`
		}
		return ""
	}, func(n int) string {
		f.mu.Lock()
		raw, _ := json.Marshal(f.bodies[n-1]["messages"])
		f.mu.Unlock()
		if strings.Contains(string(raw), "Summarise the conversation") {
			return events(delta(`{"content":"The river is the Rhine."}`), finish("stop"), done)
		}
		return fine(n)
	})
	return f
}

func TestEarlierTurnsAreSummarisedBeforeTheContextIsFull(t *testing.T) {
	t.Parallel()
	for name, tokens := range map[string]int64{"at the threshold": 3000, "after a refusal": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := summarizer(t, 12_000)
			s := open(t, f.runtime(openai.Options{ContextTokens: tokens, Tools: &[]string{}, System: "Be brief.", Retries: none()}))
			var told []string
			s.prompt("My river is the Rhine.")
			for i := range 8 {
				all, stop := s.prompt(strings.Repeat("much text ", 300))
				if stop.Outcome != trace.OutcomeCompleted {
					t.Fatalf("turn %d ended as %+v", i+2, stop)
				}
				told = append(told, notices(all)...)
			}
			const want = "The conversation nearly fills the context of the model tiny. From now on the model reads this summary of the earlier turns:\n\nThe river is the Rhine."
			if len(told) < 1 || len(told) > 4 || told[0] != want {
				t.Fatalf("the user reads %q", told)
			}
			s.prompt("hello?")
			var messages []map[string]any
			raw := f.newest()
			if err := json.Unmarshal([]byte(raw), &messages); err != nil || messages[1]["role"] != "user" || !strings.Contains(messages[1]["content"].(string), "The river is the Rhine.") {
				t.Errorf("the conversation begins with %v", messages[:2])
			}
			if strings.Contains(raw, "My river") || devstral(raw) != "" {
				t.Errorf("the model was sent %.300s", raw)
			}
			if name == "at the threshold" {
				for _, body := range f.requests() {
					if raw, _ := json.Marshal(body["messages"]); len(raw) > 12_000 {
						t.Errorf("a request had %d bytes", len(raw))
					}
				}
			}
		})
	}
}

func TestWithoutASummaryTheOldestTurnsAreLeftOut(t *testing.T) {
	t.Parallel()
	f := judge(t, func(messages string) string {
		if strings.Contains(messages, "Summarise the conversation") {
			return `{"error":"I will not."}`
		}
		return ""
	}, fine)
	s := open(t, f.runtime(openai.Options{ContextTokens: 1500, Tools: &[]string{}, System: "Be brief.", Retries: none()}))
	var told []string
	for range 5 {
		all, stop := s.prompt(strings.Repeat("much text ", 200))
		if told = append(told, notices(all)...); stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("the turn ended as %+v", stop)
		}
	}
	if len(told) == 0 || !strings.Contains(told[0], "longer than 1500 tokens: the model no longer sees its") {
		t.Errorf("the user reads %q", told)
	}
}

// The call for the summary counts as any other.
func TestASummaryIsCounted(t *testing.T) {
	t.Parallel()
	answer := `{"choices":[{"message":{"content":"Short."},"finish_reason":"stop"}],"usage":{"prompt_tokens":500,"completion_tokens":10}}`
	s := playScript(t, answer)
	opened := open(t, s.runtime(openai.Options{ContextTokens: 900, Tools: &[]string{}, System: "Be brief."}))
	opened.prompt(strings.Repeat("much text ", 150))
	all, _ := opened.prompt(strings.Repeat("much text ", 150))
	used := agenttest.Each[trace.Usage](all)
	if len(used) != 3 || used[2].Scope != trace.UsageTurn || used[2].InputTokens != 1000 {
		t.Errorf("the usage is %+v", used)
	}
}
