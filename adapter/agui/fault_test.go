package agui_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/agui"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/sse"
)

// TestFaultsOfEndpoints: each was met in an endpoint that people use.
func TestFaultsOfEndpoints(t *testing.T) {
	t.Parallel()
	const bare = `{"type":"RUN_FINISHED","threadId":"s","runId":"r"}`
	sameID := func(id, content string) string {
		return fmt.Sprintf(`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":%q,"content":%q}`, id, content)
	}
	thought := func(id, text string) string {
		return fmt.Sprintf(`{"type":"REASONING_MESSAGE_CONTENT","messageId":%q,"delta":%q}`, id, text)
	}
	snapshot := func(messages string) string { return `{"type":"MESSAGES_SNAPSHOT","messages":[` + messages + `]}` }
	for name, c := range map[string]struct {
		events []string
		want   []string
	}{
		"several results have the id of one message": {
			[]string{called("a", "t", `{}`), called("b", "t", `{}`), sameID("a", "one"), sameID("b", "two"), bare},
			[]string{"t{}", "t{}", `completed:"one"`, `completed:"two"`, "completed stop"},
		},
		"a call ends twice": {
			[]string{called("a", "t", `{"x":1}`), `{"type":"TOOL_CALL_END","toolCallId":"a"}`, result("a", "ok"), `{"type":"TOOL_CALL_END","toolCallId":"a"}`, bare},
			[]string{`t{"x":1}`, `completed:"ok"`, "completed stop"},
		},
		"a call ends that never began": {
			[]string{`{"type":"TOOL_CALL_END","toolCallId":"a"}`, result("a", "ok"), bare},
			[]string{`tool{}`, `completed:"ok"`, "completed stop"},
		},
		"the snapshot splits the messages in another way than the stream": {
			[]string{
				text("m", "one two"), called("a", "t", `{}`), result("a", "ok"),
				snapshot(`{"id":"x","role":"user","content":"go"},{"id":"y","role":"assistant","content":"one"},{"id":"z","role":"assistant","content":" two","toolCalls":[{"id":"a2","type":"function","function":{"name":"t","arguments":"{}"}}]}`), bare,
			},
			[]string{"one two", "t{}", `completed:"ok"`, "completed stop"},
		},
		"there is a snapshot and no stream": {
			[]string{snapshot(`{"id":"w","role":"assistant","content":"long ago"},{"id":"x","role":"user","content":"go"},{"id":"r","role":"reasoning","content":"hm"},{"id":"y","role":"assistant","content":"one","toolCalls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{\"x\":1}"}}]},{"id":"q","role":"tool","toolCallId":"a","content":"ok"},{"id":"s","role":"system","content":"secret"},null,{"id":"z","role":"assistant","content":"two","toolCalls":null}`), bare},
			[]string{"(hm)", "one", `t{"x":1}`, `completed:"ok"`, "two", "completed stop"},
		},
		"the results are in the snapshot alone": {
			[]string{called("a", "t", `{}`), snapshot(`{"id":"x","role":"user","content":"go"},{"id":"q","role":"tool","toolCallId":"a","content":"ok"},{"id":"o","role":"tool","toolCallId":"of another turn","content":"no"}`), text("m", "done"), bare},
			[]string{`t{}`, `completed:"ok"`, "done", "completed stop"},
		},
		"a thought comes again under another id": {
			[]string{thought("r", "I "), thought("r", "think"), thought("s", "I think"), thought("t", "I"), thought("t", " I"), text("m", "done"), bare},
			[]string{"(I think)", "(I I)", "done", "completed stop"},
		},
		"a thought comes again at its end": {
			[]string{thought("r", "so "), thought("r", "so "), thought("r", "so so "), text("m", "so "), text("m", "so "), text("m", "so so "), bare},
			[]string{"(so so )", "so so so so ", "completed stop"},
		},
		"a result has no call": {
			[]string{result("a", "ok"), bare},
			[]string{`tool{}`, `completed:"ok"`, "completed stop"},
		},
		"RUN_FINISHED follows RUN_ERROR": {
			[]string{text("m", "so far"), `{"type":"RUN_ERROR","message":"it broke","code":null}`, bare},
			[]string{"so far", "failed error it broke"},
		},
		"RUN_ERROR follows RUN_FINISHED": {
			[]string{text("m", "all"), bare, `{"type":"RUN_ERROR","message":"too late"}`},
			[]string{"all", "completed stop"},
		},
		"RUN_ERROR has an object for its message": {
			[]string{`{"type":"RUN_ERROR","message":{"error":"odd"},"code":500}`},
			[]string{`failed 500 {"error":"odd"}`},
		},
		"the end of the run is missing": {
			[]string{text("m", "so far")},
			[]string{"so far", "failed agent_lost The AG-UI agent did not go on: the stream ended before the run did: send the prompt again"},
		},
		"the result is missing": {
			[]string{called("a", "t", `{}`), text("m", "done"), bare},
			[]string{"t{}", "done", "canceled:Not finished: the agent ended its turn without a result.", "completed stop"},
		},
		"the end of the call is missing": {
			[]string{`{"type":"TOOL_CALL_START","toolCallId":"a","toolCallName":"t"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"a","delta":"{\"x\":1}"}`, result("a", "ok"), bare},
			[]string{`t{"x":1}`, `completed:"ok"`, "completed stop"},
		},
		"the beginning and the end of a text are missing": {
			[]string{text("m", "one"), `{"type":"TEXT_MESSAGE_START","messageId":"n"}`, text("n", "two"), bare},
			[]string{"one", "two", "completed stop"},
		},
		"the calls are repeated at the end": {
			[]string{called("a", "t", `{"x":1}`), result("a", "ok"), text("m", "done"), called("a", "t", `{"x":1}`), result("a", "ok"), bare},
			[]string{`t{"x":1}`, `completed:"ok"`, "done", "completed stop"},
		},
		"the run says why its model has finished": {
			[]string{text("m", "so far"), `{"type":"RUN_FINISHED","finishReason":"length"}`},
			[]string{"so far", "completed length"},
		},
		"the model's reason to finish is unknown": {
			[]string{text("m", "done"), `{"type":"RUN_FINISHED","finishReason":"tool_calls"}`},
			[]string{"done", "completed stop"},
		},
		"the outcome is a word": {
			[]string{text("m", "done"), `{"type":"RUN_FINISHED","outcome":"success"}`},
			[]string{"done", "completed stop"},
		},
		"the run was cancelled elsewhere": {
			[]string{text("m", "so far"), `{"type":"RUN_FINISHED","outcome":{"type":"cancelled"}}`},
			[]string{"so far", "canceled cancelled"},
		},
		"nothing has an id": {
			[]string{
				`{"type":"TEXT_MESSAGE_START"}`, `{"type":"TEXT_MESSAGE_CONTENT","delta":"one"}`, `{"type":"TEXT_MESSAGE_END"}`,
				`{"type":"TOOL_CALL_START","toolCallName":"t"}`, `{"type":"TOOL_CALL_END"}`, `{"type":"TOOL_CALL_RESULT","content":"ok"}`, bare,
			},
			[]string{"one", "t{}", `completed:"ok"`, "completed stop"},
		},
		"several runs follow each other on one stream": {
			[]string{called("a", "t", `{}`), `{"type":"RUN_FINISHED"}`, result("a", "ok"), started, text("m", "done"), bare},
			[]string{"t{}", `completed:"ok"`, "done", "completed stop"},
		},
		"text holds the marks of events": {
			[]string{text("m", "data: x\n\nevent: fake\ndata: {}\n\n\u2028日本語😀"), bare},
			[]string{"data: x\n\nevent: fake\ndata: {}\n\n\u2028日本語😀", "completed stop"},
		},
		"half a character comes alone": {
			[]string{`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"\ud83d"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"\ude00"}`, bare},
			[]string{"😀", "completed stop"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, map[string][]string{"go": {script(append([]string{started}, c.events...)...)}})
			same(t, newStage(t, f.URL).says("go"), c.want)
		})
	}
}

func TestACallThatIsAnnouncedAgainAfterAnInterruptGoesOn(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{"go": {
		script(started, text("m", "I write."), called("c", "mail", `{"to":"ann"}`), interrupts(`{"id":"i","reason":"tool_call","toolCallId":"c"}`)),
		script(started, called("c", "mail", `{"to":"ann"}`), result("c", "sent"), `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"other","role":"assistant","content":"I write."}]}`, finished),
	}})
	s := newStage(t, f.URL)
	s.host.OnPermit = allow("")
	same(t, s.says("go"), []string{"I write.", `mail{"to":"ann"}`, "may c? mail", `completed:"sent"`, "completed stop"})
}

func TestACallIsClosedWhoseResultTheResumedRunDrops(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{"go": {
		script(started, called("c", "mail", `{}`), interrupts(`{"id":"i","reason":"tool_call","toolCallId":"c"}`)),
		script(started, text("m", "It is sent."), finished),
	}})
	s := newStage(t, f.URL)
	s.host.OnPermit = allow("")
	same(t, s.says("go"), []string{"mail{}", "may c? mail", "It is sent.", "canceled:Not finished: the agent ended its turn without a result.", "completed stop"})
}

func TestASnapshotOfAResumedRunShowsOnlyNewText(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{"go": {
		script(started, text("m", "Sure?"), interrupts(`{"id":"i","reason":"confirmation"}`)),
		script(started, `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u1","role":"user","content":"go"},{"id":"other","role":"assistant","content":"Sure?"},{"id":"n","role":"assistant","content":"Done."}]}`, finished),
	}})
	s := newStage(t, f.URL)
	s.host.OnAsk = answer("Yes")
	same(t, s.says("go"), []string{"Sure?", "confirmation?", `selected ["Yes"]`, "Done.", "completed stop"})
}

func TestAnEndpointOfAnotherProtocolIsOneSentence(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{"go": {script(`{"type":"start"}`, `{"type":"text-delta","id":"1","delta":"Hello."}`, `{"type":"finish"}`)}})
	same(t, newStage(t, f.URL).says("go"), []string{`failed agent_lost The AG-UI agent does not speak AG-UI: the stream begins with "{\"type\":\"start\"}"`})
}

func TestARefusalOfTheEndpointIsOneSentence(t *testing.T) {
	t.Parallel()
	f := newFake(t, nil)
	for prompt, want := range map[string]string{
		"busy":  "The AG-UI agent did not take the prompt: the thread is busy",
		"page":  "the answer is text/html and no stream of events: is the address right?",
		"moved": "the server redirects to https://elsewhere.test/: use the final address",
		"half":  "AG-UI has no way back into a run: send the prompt again",
		"error": "the model is away",
	} {
		s := newStage(t, f.URL)
		got := s.says(prompt)
		if last := got[len(got)-1]; !strings.Contains(last, want) || strings.Contains(last, "\n") {
			t.Errorf("%s: %q", prompt, got)
		}
		if got := s.says("hello"); got[0] != "Hello." {
			t.Errorf("after %s: %q", prompt, got)
		}
	}
	s := newStage(t, "http://127.0.0.1:1")
	if got := s.says("hello"); !strings.Contains(got[0], "connection refused") {
		t.Errorf("no endpoint: %q", got)
	}
	s = newStage(t, f.URL)
	if got := outline(s.end(s.begin(t.Context()))); got[0] != "failed empty_prompt The prompt holds nothing that the agent can read." {
		t.Errorf("an empty prompt: %q", got)
	}
}

// open is an endpoint that says something and then neither says more nor ends its stream.
func open(t *testing.T, said string) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for line := range strings.Lines(said) {
			fmt.Fprintf(w, "data: %s\n\n", strings.TrimSpace(line))
		}
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(srv.Close)
	return srv
}

func TestAStreamThatNeverEndsDoesNotHoldTheTurn(t *testing.T) {
	t.Parallel()
	srv := open(t, script(started, text("m", "Done."), finished))
	began := time.Now()
	same(t, newStage(t, srv.URL).says("go"), []string{"Done.", "completed stop"})
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the turn took %v", took)
	}
}

func TestAnAnswerGoesOutThoughTheStreamOfTheQuestionNeverEnds(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{"go": {script(started, interrupts(`{"id":"i","reason":"confirmation"}`)), script(started, text("m", "Done."), finished)}})
	f.hang = true
	s := newStage(t, f.URL)
	s.host.OnAsk = answer("Yes")
	same(t, s.says("go"), []string{"confirmation?", `selected ["Yes"]`, "Done.", "completed stop"})
}

func TestASilentRunIsLostAfterATime(t *testing.T) {
	t.Parallel()
	srv := open(t, script(started, text("m", "so far")))
	s := newStage(t, srv.URL, func(r *agui.Runtime) { r.Silence = agent.Duration(200 * time.Millisecond) })
	if got := s.says("go"); !strings.Contains(got[1], "the server sent nothing for 200ms") {
		t.Errorf("%q", got)
	}
}

func TestACertificateThatNobodyTrustsIsOneSentence(t *testing.T) {
	t.Parallel()
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	if got := newStage(t, srv.URL).says("go"); len(got) != 1 || !strings.Contains(got[0], "certificate signed by unknown authority") || strings.Contains(got[0], "\n") {
		t.Errorf("%q", got)
	}
}

func TestAnEventBeyondTheLimitIsSkipped(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("70 MB take a second")
	}
	f := newFake(t, map[string][]string{"go": {script(started, text("m", "one "), `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"`+strings.Repeat("x", sse.DefaultMax)+`"}`, text("m", "two"), finished)}})
	same(t, newStage(t, f.URL).says("go"), []string{"one two", "completed stop"})
}
