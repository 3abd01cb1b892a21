package uiendpoint_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/uiendpoint"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

func TestSuite(t *testing.T) {
	f := newFake(t)
	agenttest.Run(t, agenttest.Suite{
		AsWritten: true,
		Open:      func(testing.TB) agent.Runtime { return uiendpoint.Runtime{URL: f.url()} },
		Prompts: map[agenttest.Ability]string{
			agenttest.Text: "hello", agenttest.Slow: "slow", agenttest.Permission: "permit", agenttest.Question: "client",
			agenttest.Tell: "My river is the Rhine.", agenttest.Recall: "recall",
			agenttest.Die: "die", agenttest.Half: "half", agenttest.Garbage: "garbage", agenttest.Huge: "huge", agenttest.Rich: "rich",
		},
		Cut: func(t testing.TB, c *agenttest.Cut) agent.Runtime {
			return uiendpoint.Runtime{URL: newCutFake(t, c).url()}
		},
		Runs:    agenttest.Tells("paid", `{"n":1}`),
		Decoder: func() agent.Decoder { return uiendpoint.NewDecoder(toolkind.Table{}) },
		Word:    "the Rhine",
		Bound:   time.Minute, // one message has 5 or 50 MB, see agenttest.HugeText
		Turns:   []string{"twice", "done early", "no finish", "fake event", "long line"},
	})
}

func TestFailuresAreOneSentenceEach(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for text, want := range map[string]string{
		"error":          "The model is overloaded.",
		"die":            "The endpoint did not go on: unexpected EOF",
		"half":           "The endpoint did not go on: unexpected EOF",
		"ends in a word": "The endpoint did not go on: its stream ended in the middle of the message",
		"page":           "text/html and no stream of events: is the address right?",
		"json":           "application/json and no stream of events: is the address right?",
		"moved":          "redirects to https://elsewhere.test/: use the final address",
		"refused":        "The endpoint did not take the prompt: You have no credit.",
		"busy":           "The endpoint did not take the prompt: The thread is busy.",
		"endless":        "The endpoint did not go on: unexpected EOF",
	} {
		_, stop := newConversation(t, f.url(), uiendpoint.Settings{}).plays(text)
		if stop.Outcome != trace.OutcomeFailed || !strings.Contains(stop.Error, want) || strings.Contains(stop.Error, "\n") {
			t.Errorf("%s: the turn ended with %+v", text, stop)
		}
		if class := map[string]trace.Class{"refused": trace.ClassRateLimit, "busy": trace.ClassRequest, "error": ""}; stop.Class != class[text] && stop.Reason != trace.ReasonLost {
			t.Errorf("%s: the class is %q", text, stop.Class)
		}
	}
	tls := httptest.NewUnstartedServer(http.NotFoundHandler())
	tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	tls.StartTLS()
	t.Cleanup(tls.Close)
	if _, stop := newConversation(t, tls.URL, uiendpoint.Settings{}).plays("hello"); !strings.Contains(stop.Error, "certificate") || strings.Contains(stop.Error, "\n") {
		t.Errorf("the turn ended with %+v", stop)
	}
	if _, stop := newConversation(t, "http://127.0.0.1:1/api/chat", uiendpoint.Settings{}).plays("hello"); !strings.Contains(stop.Error, "connection refused") {
		t.Errorf("the turn ended with %+v", stop)
	}
}

func TestOddStreamsAreReadAsClientsReadThem(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for text, want := range map[string]string{
		"hello":      "You said: hello",
		"no finish":  "done",
		"done early": "late",
		"garbage":    "B\nA",
		"fake event": "a\n\nevent: fake\ndata: {\"type\":\"error\"}",
		"twice":      "one\ntwo",
		"long line":  strings.Repeat("x", 200<<10),
	} {
		events, stop := newConversation(t, f.url(), uiendpoint.Settings{}).plays(text)
		var all []string
		for _, m := range agenttest.Each[trace.Message](events) {
			all = append(all, strings.TrimSpace(m.Text))
		}
		if got := strings.Join(all, "\n"); got != want || stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("%s: the turn said %.80q and ended with %.200v", text, got, stop)
		}
	}
	if _, stop := newConversation(t, f.url(), uiendpoint.Settings{}).plays("abort"); stop.Outcome != trace.OutcomeCanceled || stop.Reason != "budget" {
		t.Errorf("the turn ended with %+v", stop)
	}
}

func TestEachRequestHasTheWholeConversation(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := newConversation(t, f.url()+"?v=1", uiendpoint.Settings{Body: map[string]json.RawMessage{"model": json.RawMessage(`"m"`), "id": json.RawMessage(`"x"`)}, Headers: map[string]string{"X-Key": "k"}, PassToken: true})
	c.plays("one")
	c.plays("two words")
	b := f.requests()[1]
	var shape []string
	for _, m := range b["messages"].([]any) {
		_, text, _ := last(object{"message": m})
		shape = append(shape, fmt.Sprint(m.(object)["role"], " ", m.(object)["id"], " ", text))
	}
	if got, want := strings.Join(shape, "; "), "user u-one one; assistant theirs You said: one; user u-two words two words"; got != want {
		t.Errorf("the messages are %s, want %s", got, want)
	}
	if b["id"] != "session-1" || b["trigger"] != "submit-message" || b["model"] != "m" || b["messageId"] != nil {
		t.Errorf("the request is %v", b)
	}
	if h := f.heads[1]; h.Get("X-Key") != "k" || h.Get("Authorization") != "Bearer anns" {
		t.Errorf("the headers are %v", h)
	}
}

func TestTheLastMessageAloneCanBeSent(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := newConversation(t, f.url(), uiendpoint.Settings{Send: "last"})
	c.plays("one")
	c.plays("two words")
	if _, text, _ := last(f.requests()[1]); text != "two words" || f.requests()[1]["messages"] != nil {
		t.Errorf("the request is %v", f.requests()[1])
	}
}

func TestAnApprovalGoesBackInTheNextRun(t *testing.T) {
	t.Parallel()
	for _, yes := range []bool{true, false} {
		f := newFake(t)
		c := newConversation(t, f.url(), uiendpoint.Settings{})
		c.host.RequestSuffix = "-xyz"
		c.host.OnPermit = func(_ context.Context, r trace.PermissionRequest) trace.PermissionResponse {
			answer := trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "deny", Reason: "not today"}
			if yes {
				answer = trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "allow"}
			}
			return answer
		}
		events, stop := c.plays("permit")
		b := f.requests()[1]
		role, _, tools := last(b)
		approval := tools[0]["approval"].(object)
		if role != "assistant" || b["messageId"] != "theirs" || tools[0]["type"] != "tool-pay" || tools[0]["state"] != "approval-responded" ||
			approval["id"] != "a1" || approval["approved"] != yes || approval["signature"] != "sig" {
			t.Errorf("the second request is %v", b)
		}
		result := agenttest.Each[trace.ToolResult](events)[0]
		if stop.Outcome != trace.OutcomeCompleted || (result.Status == trace.ToolCompleted) != yes {
			t.Errorf("the call ended as %+v, the turn as %+v", result, stop)
		}
		c.plays("hello") // the whole message, under its own ids
		m := f.requests()[2]["messages"].([]any)[1].(object)
		if _, _, tools := last(object{"message": m}); tools[0]["approval"].(object)["id"] != "a1" || tools[0]["state"] != map[bool]string{true: "output-available", false: "output-denied"}[yes] {
			t.Errorf("the history has %v", tools)
		}
	}
}

func TestAnApprovalOfAnotherInputIsARefusal(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := newConversation(t, f.url(), uiendpoint.Settings{})
	c.host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "allow", UpdatedInput: json.RawMessage(`{"n":2}`)}
	}
	c.plays("permit")
	_, _, tools := last(f.requests()[1])
	if approval := tools[0]["approval"].(object); approval["approved"] != false || approval["reason"] != `The user wants another input: {"n":2}` {
		t.Errorf("the endpoint gets %v", approval)
	}
}

func TestACallOfTheAppWaitsForItsOutput(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{`{"lat":1.5}`: "map[lat:1.5]", "near the Rhine": "near the Rhine"} {
		f := newFake(t)
		c := newConversation(t, f.url(), uiendpoint.Settings{})
		c.host.OnAsk = func(_ context.Context, q trace.Question) trace.Answer {
			return trace.Answer{Outcome: trace.Selected, Values: []string{value}}
		}
		events, _ := c.plays("client")
		_, _, tools := last(f.requests()[1])
		if tools[0]["type"] != "tool-where" || tools[0]["state"] != "output-available" || fmt.Sprint(tools[0]["output"]) != want {
			t.Errorf("the second request has %v", tools)
		}
		if q := agenttest.Each[trace.Question](events)[0]; q.ToolCallID != "c1" {
			t.Errorf("the question is %+v", q)
		}
	}
}

func TestAFailedToolOfTheAppSaysWhy(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := newConversation(t, f.url(), uiendpoint.Settings{})
	c.host.OnAsk = func(context.Context, trace.Question) trace.Answer {
		return trace.Answer{Outcome: trace.Canceled, Reason: "The user has no position."}
	}
	events, _ := c.plays("client")
	_, _, tools := last(f.requests()[1])
	if tools[0]["state"] != "output-error" || tools[0]["errorText"] != "The user has no position." {
		t.Errorf("the second request has %v", tools)
	}
	if r := agenttest.Each[trace.ToolResult](events); r[0].Status != trace.ToolFailed || r[0].Error != "The user has no position." {
		t.Errorf("the call ended as %+v", r)
	}
}

func TestAllAnswersGoInOneRequest(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := newConversation(t, f.url(), uiendpoint.Settings{})
	c.host.OnAsk = func(context.Context, trace.Question) trace.Answer { return trace.Answer{Outcome: trace.Canceled} }
	c.host.Judge = func(trace.PermissionRequest, trace.ToolCall) (trace.PermissionResponse, bool) {
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "allow", By: "policy"}, true
	}
	c.plays("two")
	if n := len(f.requests()); n != 2 {
		t.Fatalf("there were %d requests", n)
	}
	_, _, tools := last(f.requests()[1])
	if tools[0]["state"] != "approval-responded" || tools[1]["state"] != "output-error" || tools[1]["errorText"] != "The app did not run the tool." {
		t.Errorf("the second request has %v", tools)
	}
}

func TestAStopGoesToTheEndpointsOwnRoute(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := newConversation(t, f.url(), uiendpoint.Settings{Resume: true, Stop: true})
	r, done := c.host.Turn(prompt("stoppable")), make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() { done <- c.session.Prompt(ctx, prompt("stoppable"), r.Builder) }()
	if _, err := r.Await(t.Context(), func(e trace.Event) bool { return e.Payload.Kind() == trace.KindMessageDelta }); err != nil {
		t.Fatal(err)
	}
	stop()
	if events, end := c.finished(r, <-done); end.Outcome != trace.OutcomeCanceled || end.Reason != "aborted" || strings.TrimSpace(agenttest.Said(events)) != "half" {
		t.Errorf("the turn ended with %+v", end)
	}
	<-f.stopped
	if n := f.joins; n != 0 {
		t.Errorf("the stopped run was joined %d times", n)
	}
}

func TestABrokenStreamIsJoinedWhereTheEndpointCanResume(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.resumes = func(w http.ResponseWriter, n int) {
		if n == 1 { // the whole stream from its start, in other pieces, and it breaks once more
			send(w, opening, step, `{"type":"text-start","id":"0"}`, `{"type":"text-delta","id":"0","delta":"ha"}`, `{"type":"text-delta","id":"0","delta":"lf a"}`)
			panic(http.ErrAbortHandler)
		}
		send(w, append(append([]string{opening, step, `{"type":"data-x","data":1}`}, words("half and half")...), stepEnds, finish)...)
	}
	events, stop := newConversation(t, f.url(), uiendpoint.Settings{Resume: true}).plays("die")
	if said := strings.TrimSpace(agenttest.Said(events)); said != "half and half" || stop.Outcome != trace.OutcomeCompleted || f.joins != 2 || len(agenttest.Each[trace.Data](events)) != 2 {
		t.Errorf("the turn said %q and ended with %+v after %d joins: %v", said, stop, f.joins, agenttest.Each[trace.Data](events))
	}
	f.resumes = func(http.ResponseWriter, int) {}
	if _, stop := newConversation(t, f.url(), uiendpoint.Settings{Resume: true}).plays("die"); stop.Outcome != trace.OutcomeFailed {
		t.Errorf("a run that cannot be joined ended with %+v", stop)
	}
	f.resumes = nil
	if _, stop := newConversation(t, f.url(), uiendpoint.Settings{Resume: true}).plays("die"); stop.Outcome != trace.OutcomeFailed {
		t.Errorf("a run that is gone ended with %+v", stop)
	}
}

// playUntilDetach plays a turn until the gateway stops, and returns what is on record.
func playUntilDetach(t *testing.T, c *conversation, text string, until func(trace.Event) bool) *agenttest.Recorder {
	t.Helper()
	r, done := c.host.Turn(prompt(text)), make(chan error, 1)
	ctx, leave := context.WithCancelCause(t.Context())
	go func() { done <- c.session.Prompt(ctx, prompt(text), r.Builder) }()
	if _, err := r.Await(t.Context(), until); err != nil {
		t.Fatal(err)
	}
	if err := r.Detach(); err != nil {
		t.Fatal(err)
	}
	leave(agent.ErrDetached)
	<-done
	if err := c.session.Close(); err != nil {
		t.Fatal(err)
	}
	return r
}

// takenUp goes on with a turn in a new process.
func takenUp(t *testing.T, c *conversation, old *agenttest.Recorder) ([]trace.Event, trace.Stop) {
	t.Helper()
	r, left := c.host.OpenTurn(old)
	left.Prompt = &trace.Prompt{Message: prompt("x").Message}
	err := c.runtime.Reattach(t.Context(), c.session, left)
	return c.finished(r, err)
}

func TestATurnThatWaitsForItsUserSurvivesARestart(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	first := newConversation(t, f.url(), uiendpoint.Settings{})
	first.host.OnPermit = func(ctx context.Context, _ trace.PermissionRequest) trace.PermissionResponse {
		<-ctx.Done()
		return trace.PermissionResponse{}
	}
	old := playUntilDetach(t, first, "permit", func(e trace.Event) bool { return e.Payload.Kind() == trace.KindPause })
	second := newConversation(t, f.url(), uiendpoint.Settings{})
	second.host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "allow"}
	}
	events, stop := takenUp(t, second, old)
	if stop.Outcome != trace.OutcomeCompleted || agenttest.Each[trace.ToolResult](events)[0].Status != trace.ToolCompleted {
		t.Errorf("the turn ended with %+v", stop)
	}
	b := f.requests()[1]
	if _, _, tools := last(b); len(tools) != 1 || b["messageId"] != "theirs" || tools[0]["approval"].(object)["id"] != "a1" || tools[0]["approval"].(object)["signature"] != "sig" {
		t.Errorf("the request is %v", b)
	}
}

// The gateway starts again in the second run of a turn. Its stream is joined at the beginning
// of that run, not of the message.
func TestARunAfterAnApprovalIsJoinedAfterARestart(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.hangs = true
	f.resumes = func(w http.ResponseWriter, _ int) {
		send(w, opening, `{"type":"tool-output-available","toolCallId":"c1","output":"paid"}`, step)
		send(w, append(words("Done."), stepEnds, finish)...)
	}
	first := newConversation(t, f.url(), uiendpoint.Settings{Resume: true})
	first.host.OnPermit = agenttest.Choose(trace.AllowOnce)
	old := playUntilDetach(t, first, "rich", func(e trace.Event) bool { return e.Payload.Kind() == trace.KindToolResult })
	second := newConversation(t, f.url(), uiendpoint.Settings{Resume: true})
	events, stop := takenUp(t, second, old)
	if said := agenttest.Said(events); strings.TrimSpace(said) != "I pay.\nDone." || stop.Outcome != trace.OutcomeCompleted || len(agenttest.Each[trace.ToolResult](events)) != 1 {
		t.Errorf("the turn said %q and ended with %+v", said, stop)
	}
	var types []string
	all := history(t, recorded(events))
	for _, p := range all[len(all)-1]["parts"].([]any) {
		types = append(types, fmt.Sprint(p.(object)["type"]))
	}
	if got := strings.Join(types, " "); got != "step-start reasoning text tool-pay step-start text" {
		t.Errorf("the message has the parts %s", got)
	}
}

func TestARunningTurnIsJoinedAfterARestart(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	var whole strings.Builder
	for i := range 100 {
		fmt.Fprintf(&whole, "word %d ", i)
	}
	f.resumes = func(w http.ResponseWriter, _ int) { send(w, textTurn(whole.String())...) }
	speaks := func(e trace.Event) bool { return e.Payload.Kind() == trace.KindMessageDelta }
	old := playUntilDetach(t, newConversation(t, f.url(), uiendpoint.Settings{Resume: true}), "slow", speaks)
	events, stop := takenUp(t, newConversation(t, f.url(), uiendpoint.Settings{Resume: true}), old)
	if said := agenttest.Said(events); strings.TrimSpace(said) != strings.TrimSpace(whole.String()) || stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("the turn said %q and ended with %+v", said, stop)
	}
	old = playUntilDetach(t, newConversation(t, f.url(), uiendpoint.Settings{}), "slow", speaks)
	if _, stop = takenUp(t, newConversation(t, f.url(), uiendpoint.Settings{}), old); !strings.Contains(stop.Error, "the endpoint cannot resume: send the prompt again") {
		t.Errorf("the turn ended with %+v", stop)
	}
}
