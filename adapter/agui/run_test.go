package agui_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/adapter/agui"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// tools are a tool of the app.
func tools(r *agui.Runtime) {
	r.Tools = []agui.Tool{{Name: "pick", Description: "picks a colour", Parameters: map[string]any{"type": "object"}}}
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestARunIsOneMessage(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{"before": {script(started, called("c", "now", "{}"), result("c", "noon"), finished)}, "go": {script( // the endpoint sends no snapshots
		started,
		`{"type":"REASONING_START","messageId":"r1"}`, `{"type":"REASONING_MESSAGE_START","messageId":"r1","role":"reasoning"}`,
		`{"type":"REASONING_MESSAGE_CONTENT","messageId":"r1","delta":"I think"}`, `{"type":"REASONING_MESSAGE_END","messageId":"r1"}`, `{"type":"REASONING_END","messageId":"r1"}`,
		`{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant"}`, text("m1", "Let me "), text("m1", ""), text("m1", "look."), `{"type":"TEXT_MESSAGE_END","messageId":"m1"}`,
		called("c1", "weather", `{"city":"Paris"}`), called("c2", "weather", `{"city":"Ro`), called("c3", "now", ``),
		result("c1", `{"degrees":21}`), result("c2", "no such city"), result("c3", "[1,2"),
		`{"type":"TEXT_MESSAGE_START","messageId":"s1","role":"system"}`, text("s1", "You are a secret."), `{"type":"TEXT_MESSAGE_END","messageId":"s1"}`,
		text("m2", "It is 21 degrees."), finished,
	)}})
	s := newStage(t, f.URL)
	s.says("before")
	events := s.plays("go")
	same(t, outline(events), []string{
		"(I think)", "Let me look.", `weather{"city":"Paris"}`, `weather{}{"city":"Ro`, "now{}",
		`completed:{"degrees":21}`, `completed:"no such city"`, `completed:"[1,2"`, "It is 21 degrees.", "completed stop",
	})
	if steps := agenttest.Each[trace.Step](events); len(steps) != 4 || steps[0].NativeID != "r" {
		t.Errorf("the steps are %+v: one before the results and one behind them", steps)
	}
}

func TestChunksOpenAndCloseByThemselves(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{"go": {script(
		started,
		`{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","delta":"I "}`, `{"type":"REASONING_MESSAGE_CHUNK","delta":"think"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","role":"assistant","delta":"one "}`, `{"type":"STEP_STARTED","stepName":"x"}`, `{"type":"TEXT_MESSAGE_CHUNK","delta":"two"}`, `{"type":"TEXT_MESSAGE_CHUNK"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"b","delta":"three"}`,
		`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"t","delta":"{\"a\":"}`, `{"type":"TOOL_CALL_CHUNK","delta":"1}"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"u","role":"user","delta":"no word of the agent"}`,
		result("c", "done"), finished,
	)}})
	same(t, newStage(t, f.URL).says("go"), []string{"(I think)", "one two", "three", `t{"a":1}`, `completed:"done"`, "completed stop"})
}

func TestEndpointsBefore10AreUnderstood(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{"go": {script(
		`{"type":"RUN_STARTED","threadId":"s","runId":"r","parentRunId":null,"input":null,"timestamp":1.5,"rawEvent":{"x":1}}`,
		`{"type":"THINKING_START","title":"hm"}`, `{"type":"THINKING_TEXT_MESSAGE_START"}`, `{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"I "}`,
		`{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"think"}`, `{"type":"THINKING_TEXT_MESSAGE_END"}`, `{"type":"THINKING_END"}`,
		`{"type":"THINKING_START"}`, `{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"again"}`, `{"type":"THINKING_END"}`,
		`{"type":"TEXT_MESSAGE_START","messageId":"m","role":null,"name":null,"metadata":null,"subagentRunId":null}`, text("m", "Hello."),
		`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"t","parentMessageId":null}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":null}`, `{"type":"TOOL_CALL_END","toolCallId":"c"}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"c","content":null,"role":null}`,
		`{"type":"RUN_FINISHED","threadId":"s","runId":"r","result":null,"outcome":null,"usage":{"promptTokens":3,"completionTokens":4}}`,
	)}})
	s := newStage(t, f.URL, func(r *agui.Runtime) { r.Legacy = true })
	events := s.plays("go")
	same(t, outline(events), []string{"(I think)", "(again)", "Hello.", "t{}", `completed:""`, "completed stop"})
	if u := agenttest.Each[trace.Usage](events); len(u) != 1 || u[0].InputTokens != 3 || u[0].OutputTokens != 4 {
		t.Errorf("the usage is %+v", u)
	}
	s.end(s.begin(t.Context(), words("look"), trace.InputPart{Type: trace.InputFile, MediaType: "image/png", URL: "data:image/png;base64,iVBO"}))
	in := f.input(1)
	if strings.Contains(in.raw, "protocolVersion") || strings.Contains(in.raw, `"reasoning"`) || !strings.Contains(in.raw, `{"type":"binary","mimeType":"image/png","data":"iVBO"}`) {
		t.Errorf("the input is %s", in.raw)
	}
}

func TestTheInputOfARunIsTheWholeConversation(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{"one": {script(
		started, `{"type":"STATE_SNAPSHOT","snapshot":{"n":1}}`,
		`{"type":"REASONING_MESSAGE_CONTENT","messageId":"r1","delta":"Hm."}`, `{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"r1","encryptedValue":"S1"}`,
		`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"r2","encryptedValue":"S2","encryptedValueType":"x"}`,
		text("m1", "Let me look."),
		`{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"weather","parentMessageId":"m1"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{\"city\":\"Paris\"}"}`,
		`{"type":"TOOL_CALL_START","toolCallId":"c2","toolCallName":"now","parentMessageId":"m9"}`,
		`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"tool-call","entityId":"c1","encryptedValue":"S3"}`,
		`{"type":"SUBAGENT_STARTED","subagentRunId":"a","name":"helper"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"h","delta":"aside","subagentRunId":"a"}`,
		result("c1", `{"degrees": 21}`), result("c2", "noon"), text("m2", "21 degrees."), `{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/n","value":2}]}`, finished,
	)}, "two": {script(started, text("m1", "Bye."), finished)}})
	s := newStage(t, f.URL, tools, func(r *agui.Runtime) {
		r.Context = []agui.Context{{Description: "user", Value: "Ann"}}
		r.Forwarded = map[string]any{"a": 1}
		r.State = map[string]any{"n": 0}
		r.Token = "secret"
	})
	s.says("one")
	s.says("two")
	s.end(s.begin(t.Context(), words("look"), words("here"), trace.InputPart{Type: trace.InputFile, MediaType: "image/png", URL: "data:image/png;base64,iVBO"},
		trace.InputPart{Type: trace.InputFile, MediaType: "application/pdf", URL: "https://example.test/a.pdf"}, trace.InputPart{Type: trace.InputFile, URL: "file:///etc/passwd", Filename: "passwd"}))
	first, last := f.input(0), f.input(2)
	if first.ProtocolVersion != "1.0" || first.ThreadID != "thread" || first.header.Get("Authorization") != "Bearer secret" || fmt.Sprint(first.State) != "map[n:0]" {
		t.Errorf("the first input is %s", first.raw)
	}
	if last.RunID == first.RunID || fmt.Sprint(last.State) != "map[n:2]" || last.Tools[0]["name"] != "pick" || last.Context[0]["value"] != "Ann" || fmt.Sprint(last.ForwardedProps) != "map[a:1]" || last.Resume != nil {
		t.Errorf("the last input is %s", last.raw)
	}
	same(t, last.brief(), []string{
		"user u1 one",
		"reasoning r1 Hm. encryptedValue=S1",
		"reasoning r2  encryptedValue=S2",
		`assistant m1 Let me look. c1:weather{"city":"Paris"} sealed S3`,
		"assistant m9 c2:now{}",
		`tool m-c1 {"degrees":21} toolCallId=c1`,
		"tool m-c2 noon toolCallId=c2",
		"assistant m2 21 degrees.",
		"user u2 two",
		"assistant m1.9 Bye.",
		"user u3 [map[text:look type:text] map[text:here type:text] map[source:map[mimeType:image/png type:data value:iVBO] type:image] " +
			"map[source:map[mimeType:application/pdf type:url value:https://example.test/a.pdf] type:document] map[text:[The user attached the file passwd of type unknown, which cannot be passed on.] type:text]]",
	})
}

func TestAnApprovalIsAnInterruptAndItsAnswerARun(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"approved":{"type":"boolean"}},"required":["approved"]}`
	const edits = `{"type":"object","properties":{"approved":{"type":"boolean"},"editedArgs":{"type":"object"}}}`
	for name, c := range map[string]struct {
		host    func(context.Context, trace.PermissionRequest) trace.PermissionResponse
		schema  string
		payload string
		want    []string
	}{
		"approved": {allow(""), schema, "map[interruptId:i payload:map[approved:true] status:resolved]", []string{`completed:"sent"`}},
		"rejected": {reject, schema, "map[interruptId:i payload:map[approved:false reason:not now] status:resolved]", []string{"denied:not now"}},
		"edited":   {allow(`{"to":"bob"}`), edits, "map[interruptId:i payload:map[approved:true editedArgs:map[to:bob]] status:resolved]", []string{`mail{"to":"bob"}`, `completed:"sent"`}},
		"edited without a schema": {
			allow(`{"to":"bob"}`), "null", "map[interruptId:i payload:map[approved:true editedArgs:map[to:bob]] status:resolved]",
			[]string{`mail{"to":"bob"}`, `completed:"sent"`},
		},
		"edited though the agent takes no edits": {
			allow(`{"to":"bob"}`), schema, `map[interruptId:i payload:map[approved:false reason:The user wants another input: {"to":"bob"}] status:resolved]`,
			[]string{`denied:sent`},
		},
		"not answered": {nil, schema, "map[interruptId:i status:cancelled]", []string{`completed:"sent"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, map[string][]string{"go": {
				script(started, text("m", "I will write."), called("c", "mail", `{"to":"ann"}`), interrupts(`{"id":"i","reason":"tool_call","toolCallId":"c","message":"Send?","responseSchema":`+c.schema+`}`)),
				script(started, result("c", "sent"), text("n", "That was it."), finished),
			}})
			s := newStage(t, f.URL)
			s.host.OnPermit = c.host
			want := append([]string{"I will write.", `mail{"to":"ann"}`, "may c? Send?"}, append(c.want, "That was it.", "completed stop")...)
			same(t, s.says("go"), want)
			in := f.input(1)
			if got := fmt.Sprint(in.Resume); got != "["+c.payload+"]" || in.RunID == f.input(0).RunID || in.ThreadID != f.input(0).ThreadID {
				t.Errorf("the second input is %s", in.raw)
			}
			same(t, in.brief(), []string{"user u1 go", `assistant m I will write. c:mail{"to":"ann"}`})
		})
	}
}

func TestTheTurnGoesOnWhenEverythingIsAnswered(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{"go": {
		script(started, called("c1", "mail", `{}`), called("c2", "mail", `{}`), interrupts(
			`{"id":"a","reason":"tool_call","toolCallId":"c1"}`, `{"id":"b","reason":"tool_call","toolCallId":"c2"}`,
			`{"id":"c","reason":"input_required","message":"Which?","responseSchema":{"type":"object","properties":{"colour":{"type":"string","enum":["red"]},"n":{"type":"integer"}}}}`,
			`{"id":"d","reason":"confirmation","message":"Sure?"}`, `{"id":"e","reason":"acme:free","message":"Anything else?"}`,
			`{"id":"f","reason":"x","message":"Odd","responseSchema":{"type":["string","null"]}}`,
		)),
		script(started, result("c1", "1"), result("c2", "2"), finished),
	}})
	s := newStage(t, f.URL)
	s.host.OnPermit = func(ctx context.Context, r trace.PermissionRequest) trace.PermissionResponse {
		if r.ToolCallID == "c1" {
			return reject(ctx, r)
		}
		return allow("")(ctx, r)
	}
	s.host.OnAsk = func(ctx context.Context, q trace.Question) trace.Answer {
		switch q.Header {
		case "colour":
			return answer("red")(ctx, q)
		case "n":
			return answer("7")(ctx, q)
		}
		switch {
		case q.Text == "Sure?":
			return answer("Yes")(ctx, q)
		case strings.HasPrefix(q.Text, "Odd"):
			return trace.Answer{Outcome: trace.Canceled}
		}
		return answer(`{"a":1}`)(ctx, q)
	}
	events := s.plays("go")
	pauses := agenttest.Each[trace.Pause](events)
	if len(pauses) > 2 || len(pauses[0].Requests) != 2 { // the questions may have their answers before it is their turn
		t.Errorf("what is asked is put to the user as %+v", pauses)
	}
	in := f.input(1)
	var got []string
	for _, r := range in.Resume {
		got = append(got, fmt.Sprint(r))
	}
	same(t, got, []string{
		"map[interruptId:a payload:map[approved:false reason:not now] status:resolved]",
		"map[interruptId:b payload:map[approved:true] status:resolved]",
		"map[interruptId:c payload:map[colour:red n:7] status:resolved]",
		"map[interruptId:d payload:true status:resolved]",
		"map[interruptId:e payload:map[a:1] status:resolved]",
		"map[interruptId:f status:cancelled]",
	})
	if f.runs() != 2 {
		t.Errorf("there were %d runs", f.runs())
	}
}

func TestThePolicyMayAnswerBeforeTheRunHasEnded(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{"go": {
		script(started, called("c", "mail", `{}`), interrupts(`{"id":"a","reason":"tool_call","toolCallId":"c"}`)),
		script(started, result("c", "1"), finished),
	}})
	s := newStage(t, f.URL)
	s.host.Judge = func(trace.PermissionRequest, trace.ToolCall) (trace.PermissionResponse, bool) {
		return trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.AllowOnce, ChosenOption: "approve"}, true
	}
	if got := s.says("go"); got[len(got)-1] != "completed stop" || f.runs() != 2 {
		t.Errorf("%q after %d runs", got, f.runs())
	}
}

func TestUnansweredInterruptsAreCancelledByTheNextRun(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{"go": {
		script(started, called("c", "mail", `{}`), interrupts(`{"id":"a","reason":"tool_call","toolCallId":"c"}`, `{"id":"b","reason":"input_required"}`)),
	}})
	s := newStage(t, f.URL)
	if got := s.abandons("go"); got[len(got)-1] != "canceled stopped" {
		t.Errorf("%q", got)
	}
	s.says("hello")
	in := f.input(1)
	if got := fmt.Sprint(in.Resume); got != "[map[interruptId:a status:cancelled] map[interruptId:b status:cancelled]]" {
		t.Errorf("the next input is %s", in.raw)
	}
	same(t, in.brief(), []string{"user u1 go", "assistant c c:mail{}", "user u2 hello"})
	s.says("hello")
	if in := f.input(2); in.Resume != nil {
		t.Errorf("the input after that is %s", in.raw)
	}
}

func TestTheLegacyInterruptOfLangGraphIsAQuestion(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{"go": {
		script(started, `{"type":"CUSTOM","name":"on_interrupt","value":"{\"question\":\"Send it?\"}"}`, `{"type":"RUN_FINISHED","threadId":"s","runId":"r"}`),
		script(started, text("m", "Sent."), `{"type":"RUN_FINISHED","threadId":"s","runId":"r"}`),
	}})
	s := newStage(t, f.URL)
	s.host.OnAsk = answer("yes")
	same(t, s.says("go"), []string{"Send it??", `selected ["yes"]`, "Sent.", "completed stop"})
	if got := fmt.Sprint(f.input(1).ForwardedProps); got != "map[command:map[resume:yes]]" {
		t.Errorf("the answer is %s", got)
	}
}

// TestARefusalThatComesBehindTheEndIsNotSent: a person has written something else instead of an answer.
func TestARefusalThatComesBehindTheEndIsNotSent(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{
		"go":    {script(started, called("c", "mail", `{}`), interrupts(`{"id":"i","toolCallId":"c"}`)), script(started, finished)},
		"hello": {script(started, text("m", "Hi."), finished)},
	})
	s := newStage(t, f.URL)
	over := make(chan struct{})
	s.host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
		<-over
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "reject", OptionKind: trace.RejectOnce}
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, done := s.begin(ctx, words("go"))
	if _, err := r.Await(ctx, func(e trace.Event) bool { return e.Payload.Kind() == trace.KindPause }); err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(trace.Stop{Reason: "unanswered", Outcome: trace.OutcomeCanceled}); err != nil {
		t.Fatal(err)
	}
	close(over)
	time.Sleep(20 * time.Millisecond)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	same(t, s.says("hello"), []string{"Hi.", "completed stop"})
	if in := f.input(1); in.last() != "hello" || fmt.Sprint(in.Resume) != "[map[interruptId:i status:cancelled]]" {
		t.Errorf("the second input is %s", in.raw)
	}
}

// TestAPromptGetsARunOfItsOwn: the run that cancels an interrupt may do nothing else.
func TestAPromptGetsARunOfItsOwn(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{
		"go":    {script(started, called("c", "mail", `{}`), interrupts(`{"id":"i","toolCallId":"c"}`))},
		"hello": {script(started, `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"x","role":"user","content":"hello"}]}`, finished), script(started, text("m", "Hi."), finished)},
	})
	s := newStage(t, f.URL, func(r *agui.Runtime) { r.PassToken = true })
	s.abandons("go")
	same(t, s.says("hello"), []string{"Hi.", "completed stop"})
	first, second := f.input(1), f.input(2)
	if fmt.Sprint(first.Resume) != "[map[interruptId:i status:cancelled]]" || second.Resume != nil || second.last() != "hello" || second.header.Get("Authorization") != "Bearer anns-token" {
		t.Errorf("the inputs are %s\nand %s", first.raw, second.raw)
	}
}

// TestApprovalsOfLangChain: one interrupt asks about several calls, and its answer is a decision for each.
func TestApprovalsOfLangChain(t *testing.T) {
	t.Parallel()
	const value = `{"action_requests":[{"name":"mail","args":{"to": "bob"},"description":"Mail bob?"},{"name":"mail","args":{"to":"eve"}},{"name":"drop","args":{"x":1},"description":"Drop?"}],` +
		`"review_configs":[{"action_name":"mail","allowed_decisions":["approve","edit","reject"]},{"action_name":"drop","allowed_decisions":["approve","reject"]}]}`
	calls := []string{started, called("e", "mail", `{"to":"eve"}`), called("b", "mail", `{"to":"bob"}`)}
	then := script(started, result("e", "sent"), text("m", "Done."), finished)
	decisions := `map[decisions:[map[edited_action:map[args:map[to:ann] name:mail] type:edit] map[type:approve] map[message:The user wants another input: {"to":"ann"} type:reject]]]`
	for name, c := range map[string]struct {
		end, answer string
		given       func(got) string
	}{
		"by the outcome": {
			interrupts(`{"id":"i","reason":"langgraph:interrupt","metadata":{"langgraph":{"raw":` + value + `}}}`), decisions,
			func(g got) string { return fmt.Sprint(g.Resume[0]["payload"]) },
		},
		"by the event of earlier endpoints": {
			fmt.Sprintf(`{"type":"CUSTOM","name":"on_interrupt","value":%q}`, value) + "\n" + `{"type":"RUN_FINISHED","threadId":"s","runId":"r"}`, "map[command:map[resume:" + decisions + "]]",
			func(g got) string { return fmt.Sprint(g.ForwardedProps) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, map[string][]string{"go": {script(append(slices.Clone(calls), c.end)...), then}})
			s := newStage(t, f.URL)
			s.host.OnPermit = func(_ context.Context, r trace.PermissionRequest) trace.PermissionResponse {
				allowed := trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "approve", OptionKind: trace.AllowOnce}
				if r.ToolCallID != "e" {
					allowed.UpdatedInput = []byte(`{"to":"ann"}`)
				}
				return allowed
			}
			events := s.plays("go")
			var asked []string
			for _, r := range agenttest.Each[trace.PermissionRequest](events) {
				asked = append(asked, r.ToolCallID+" "+r.Title)
			}
			if len(asked) != 3 || asked[0] != "b Mail bob?" || !strings.HasPrefix(asked[1], "e ") || !strings.HasSuffix(asked[2], "Drop?") {
				t.Errorf("asked for %q", asked)
			}
			if got := c.given(f.input(1)); got != c.answer {
				t.Errorf("the answer is %s", got)
			}
		})
	}
}

// TestReviewsInTheWordsOfLangChain: the graph gets no decision that it does not allow, in the words that it asked in.
func TestReviewsInTheWordsOfLangChain(t *testing.T) {
	t.Parallel()
	edited := trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "approve", OptionKind: trace.AllowOnce, UpdatedInput: []byte(`{"to":"ann"}`)}
	for name, c := range map[string]struct{ value, options, payload string }{
		"Python":     {`{"action_requests":[{"name":"mail","args":{}}],"review_configs":[{"action_name":"mail","allowed_decisions":["reject"]}]}`, "[Reject]", "map[decisions:[map[message:The user wants another input: {\"to\":\"ann\"} type:reject]]]"},
		"no word":    {`{"action_requests":[{"name":"mail","args":{}}]}`, "[Approve Reject]", "map[decisions:[map[message:The user wants another input: {\"to\":\"ann\"} type:reject]]]"},
		"JavaScript": {`{"actionRequests":[{"name":"mail","args":{}}],"reviewConfigs":[{"actionName":"mail","allowedDecisions":["approve","edit"]}]}`, "[Approve]", "map[decisions:[map[editedAction:map[args:map[to:ann] name:mail] type:edit]]]"},
		"the inbox":  {`[{"action_request":{"action":"mail","args":{}},"config":{"allow_accept":true,"allow_edit":true}}]`, "[Approve]", "[map[args:map[action:mail args:map[to:ann]] type:edit]]"},
	} {
		f := newFake(t, map[string][]string{"go": {script(started, called("c", "mail", `{}`), interrupts(`{"id":"i","metadata":{"langgraph":{"raw":`+c.value+`}}}`)), script(started, result("c", "done"), finished)}})
		s := newStage(t, f.URL)
		s.host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse { return edited }
		var options []string
		for _, r := range agenttest.Each[trace.PermissionRequest](s.plays("go")) {
			for _, o := range r.Options {
				options = append(options, o.Name)
			}
		}
		if got := fmt.Sprint(f.input(1).Resume[0]["payload"]); got != c.payload || fmt.Sprint(options) != c.options {
			t.Errorf("%s: the options are %q, and the answer is %s", name, options, got)
		}
	}
}

func TestAnAbandonedApprovalOfLangChainIsRejectedByTheNextRun(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{
		"go":    {script(started, called("c", "mail", `{}`), interrupts(`{"id":"i","metadata":{"langgraph":{"raw":{"action_requests":[{"name":"mail","args":{}}]}}}}`))},
		"hello": {script(started, text("m", "Hi."), finished)},
	})
	s := newStage(t, f.URL)
	s.abandons("go")
	s.says("hello")
	if got := fmt.Sprint(f.input(1).Resume); got != "[map[interruptId:i payload:map[decisions:[map[message:The user did not answer. type:reject]]] status:resolved]]" {
		t.Errorf("the answer is %s", got)
	}
}

func TestTheQuestionOfAnInterruptIsInTheWordsOfItsFramework(t *testing.T) {
	t.Parallel()
	for metadata, want := range map[string]string{
		`{"langgraph":{"raw":{"question":"Which?"}}}`:      "Which??",
		`{"langgraph":{"raw":"{\"message\":\"Which?\"}"}}`: "Which??",
		`{"mastra":{"suspendPayload":{"text":"Which?"}}}`:  "Which??",
		`{"reason":"Which?"}`:                              "Which??",
		`{"reason":{"path":"/x"}}`:                         "why?",
	} {
		f := newFake(t, map[string][]string{"go": {script(started, interrupts(`{"id":"i","reason":"why","metadata":`+metadata+`}`)), script(started, finished)}})
		s := newStage(t, f.URL)
		s.host.OnAsk = answer("this")
		same(t, s.says("go"), []string{want, `selected ["this"]`, "completed stop"})
	}
}

func TestAToolOfTheAppIsAnsweredByTheClient(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{
		"named by the endpoint": `{"type":"RUN_FINISHED","threadId":"s","runId":"r","outcome":{"type":"success","pendingToolCallIds":["c"]}}`,
		"told by its name":      `{"type":"RUN_FINISHED","threadId":"s","runId":"r"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, map[string][]string{"go": {
				script(started, text("m", "Pick."), called("x", "search", `{}`), result("x", "found"), called("c", "pick", `{"of":3}`), called("lost", "search", `{}`), end),
				script(started, text("n", "Red it is."), finished),
			}})
			s := newStage(t, f.URL, tools)
			s.host.OnAsk = answer(`{"colour":"red"}`)
			events := s.plays("go")
			if q := agenttest.Each[trace.Question](events)[0]; q.QuestionID != "c-x" || q.ToolCallID != "c" {
				t.Errorf("the question is %+v, and clients answer it as the call c", q)
			}
			same(t, outline(events), []string{
				"Pick.", "search{}", `completed:"found"`, `pick{"of":3}`, "search{}", `The agent calls pick of the app with {"of":3}. What is the result??`, `selected ["{\"colour\":\"red\"}"]`,
				`completed:{"colour":"red"}`, "Red it is.", "canceled:Not finished: the agent ended its turn without a result.", "completed stop",
			})
			in := f.input(1)
			same(t, in.brief()[1:], []string{
				"assistant m Pick. x:search{}", "tool m-x found toolCallId=x", `assistant c c:pick{"of":3} lost:search{}`, `tool result-c {"colour":"red"} toolCallId=c`,
			})
			if in.Resume != nil {
				t.Errorf("the second input is %s", in.raw)
			}
		})
	}
}

// TestTheOutputOfAToolOfTheAppIsKept: the client gets its own output back, and the endpoint gets it as
// text, in the next run and in later turns.
func TestTheOutputOfAToolOfTheAppIsKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value         string // of the answer
		via           trace.Via
		output, wants string
	}{
		{`"Ann"`, trace.ViaChat, `"Ann"`, "Ann"},
		{`""`, trace.ViaChat, `""`, ""},
		{`"42"`, trace.ViaChat, `"42"`, "42"},
		{`42`, trace.ViaChat, `42`, "42"},
		{`"true"`, trace.ViaChat, `"true"`, "true"},
		{`true`, trace.ViaChat, `true`, "true"},
		{`null`, trace.ViaChat, `null`, "null"},
		{`"null"`, trace.ViaChat, `"null"`, "null"},
		{`"{\"a\":1}"`, trace.ViaChat, `"{\"a\":1}"`, `{"a":1}`},
		{`"\"quoted\""`, trace.ViaChat, `"\"quoted\""`, `"quoted"`},
		{`{"a":1}`, trace.ViaChat, `{"a":1}`, `{"a":1}`},
		{`["x",1]`, trace.ViaChat, `["x",1]`, `["x",1]`},
		{`42`, trace.ViaWords, `"42"`, "42"},
		{`"Ann"`, trace.ViaRequest, `"\"Ann\""`, `"Ann"`},
		{`Ann`, "", `"Ann"`, "Ann"},
	} {
		for kind, end := range map[string]string{"pending": finished, "interrupt": interrupts(`{"id":"i","toolCallId":"c","reason":"input_required"}`)} {
			f := newFake(t, map[string][]string{"go": {script(started, called("c", "pick", `{}`), end), script(started, result("c", c.wants), text("n", "Thanks."), finished)}})
			s := newStage(t, f.URL, tools)
			s.host.OnAsk = func(context.Context, trace.Question) trace.Answer {
				return trace.Answer{Outcome: trace.Selected, Values: []string{c.value}, Via: c.via}
			}
			events := s.plays("go")
			if kind == "interrupt" {
				if got, _ := json.Marshal(f.input(1).Resume[0]["payload"]); string(got) != c.output {
					t.Errorf("%s by %q: the endpoint gets the payload %s", c.value, c.via, got)
				}
				continue
			}
			if got := agenttest.Each[trace.ToolResult](events)[0].Output; string(got) != c.output {
				t.Errorf("%s by %q: the client gets %s", c.value, c.via, got)
			}
			s.plays("more")
			for run, from := range map[int]int{1: 2, 2: 2} {
				if m := f.input(run).Messages[from]; m["role"] != "tool" || m["content"] != c.wants {
					t.Errorf("%s by %q: in run %d the endpoint gets %v", c.value, c.via, run, m)
				}
			}
		}
	}
}

func TestAToolOfTheAppWithoutAnAnswerHasFailed(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{"go": {script(started, called("c", "pick", `{}`), finished), script(started, text("n", "Pity."), finished)}})
	s := newStage(t, f.URL, tools)
	if got := s.says("go"); got[len(got)-3] != "failed:The app gave no result." || got[len(got)-2] != "Pity." {
		t.Errorf("%q", got)
	}
	same(t, f.input(1).brief()[2:], []string{"tool result-c The app gave no result. toolCallId=c error=The app gave no result."})
}

func TestStateAndActivitiesAreDataThatIsPatched(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{"go": {script(
		started, `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":{"b":[1]}}]}`, `{"type":"STATE_SNAPSHOT","snapshot":{"list":["x"],"k~/":1}}`,
		`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/list/-","value":"y"},{"op":"test","path":"/list/1","value":"y"},{"op":"move","from":"/k~0~1","path":"/n"},{"op":"copy","from":"/list/0","path":"/z"},{"op":"remove","path":"/list/0"}]}`,
		`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/lost","value":1},{"op":"remove","path":"/nothing"}]}`,
		`{"type":"ACTIVITY_SNAPSHOT","messageId":"p","activityType":"PLAN","content":{"steps":[]}}`,
		`{"type":"ACTIVITY_DELTA","messageId":"p","activityType":"PLAN","patch":[{"op":"add","path":"/steps/0","value":"go"}]}`,
		`{"type":"ACTIVITY_SNAPSHOT","messageId":"p","activityType":"PLAN","content":{"steps":["no"]},"replace":false}`,
		`{"type":"STEP_STARTED","stepName":"plan"}`, `{"type":"STEP_FINISHED","stepName":"plan"}`,
		`{"type":"CUSTOM","name":"tick","value":1}`, `{"type":"CUSTOM","name":"subagent","value":{"id":"x"}}`, `{"type":"CUSTOM","name":"none"}`,
		`{"type":"RAW","event":{"a":1},"source":"x"}`, `{"type":"STATE_SNAPSHOT","subagentRunId":"w","snapshot":7}`,
		`{"type":"RUN_FINISHED","threadId":"s","runId":"r","result":{"ok":true}}`,
	)}})
	s := newStage(t, f.URL)
	events := s.plays("go")
	same(t, shown(events), []string{
		`state state {"a":{"b":[1]}}`, `state state {"list":["x"],"k~/":1}`, `state state {"list":["y"],"n":1,"z":"x"}`,
		`activity-PLAN p {"steps":[]}`, `activity-PLAN p {"steps":["go"]}`, `step step-plan {"status":"started","stepName":"plan"}`, `step step-plan {"status":"finished","stepName":"plan"}`,
		`tick 1`, `custom-subagent {"id":"x"}`, `none null`, `state state-w 7`, `result {"ok":true}`,
	})
}

func TestALargeStateIsOnRecordOnceForEachRun(t *testing.T) {
	t.Parallel()
	all := []string{started, `{"type":"STATE_SNAPSHOT","snapshot":{"big":"` + strings.Repeat("x", 70_000) + `","n":0}}`}
	for n := range 50 {
		all = append(all, fmt.Sprintf(`{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/n","value":%d}]}`, n))
	}
	f := newFake(t, map[string][]string{"go": {script(append(all, finished)...)}})
	got := shown(newStage(t, f.URL).plays("go"))
	if len(got) != 1 || !strings.HasSuffix(got[0], `"n":49}`) {
		t.Errorf("the state is on record %d times", len(got))
	}
}

func TestSubAgentsHaveTheirOwnPlace(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{"go": {script(
		started, called("c", "delegate", `{}`),
		`{"type":"SUBAGENT_STARTED","subagentRunId":"a","name":"writer","parentToolCallId":"c"}`, `{"type":"TEXT_MESSAGE_CONTENT","subagentRunId":"a","messageId":"m","delta":"under a call"}`,
		`{"type":"TOOL_CALL_START","subagentRunId":"a","toolCallId":"c2","toolCallName":"t"}`, `{"type":"TOOL_CALL_RESULT","subagentRunId":"a","toolCallId":"c2","messageId":"x","content":"ok"}`,
		`{"type":"SUBAGENT_FINISHED","subagentRunId":"a","outcome":{"type":"success"}}`, result("c", "done"),
		`{"type":"SUBAGENT_STARTED","subagentRunId":"b","name":"critic"}`, `{"type":"REASONING_MESSAGE_CONTENT","subagentRunId":"b","messageId":"m","delta":"alone"}`,
		`{"type":"SUBAGENT_FINISHED","subagentRunId":"b","outcome":{"type":"suspended","interruptIds":["i"]}}`, `{"type":"SUBAGENT_STARTED","subagentRunId":"b","name":"critic"}`,
		`{"type":"SUBAGENT_ERROR","subagentRunId":"b","message":"it broke"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","subagentRunId":"never begun","messageId":"m","delta":"who am I"}`, text("m", "I."), finished,
	)}})
	got := newStage(t, f.URL).plays("go")
	same(t, slices.DeleteFunc(outline(got), func(l string) bool { return strings.Contains(l, "delegate") }), []string{
		"c> under a call", "c> t{}", `c> completed:"ok"`, `completed:"done"`, "b> (alone)", "b> error it broke", "never begun> who am I", "I.", "completed stop",
	})
	same(t, shown(got), []string{
		`subagent b {"id":"b","name":"critic","status":"running"}`, `subagent b {"id":"b","name":"critic","status":"failed"}`,
		`subagent never begun {"id":"never begun","status":"running"}`, `subagent never begun {"id":"never begun","status":"completed"}`,
	})
}

func TestUsageIsTheSumOfAllRuns(t *testing.T) {
	t.Parallel()
	const used = `"usage":[{"provider":"p","model":"m","inputTokens":10,"outputTokens":2,"totalTokens":12,"reasoningTokens":1,"cachedInputTokens":4,"cacheWriteInputTokens":3},{"inputTokens":1,"outputTokens":null}]`
	f := newFake(t, map[string][]string{"go": {
		script(started, called("c", "pick", `{}`), `{"type":"RUN_FINISHED","threadId":"s","runId":"r",`+used+`}`),
		script(started, `{"type":"RUN_ERROR","message":"no more","code":"quota",`+used+`}`),
	}})
	s := newStage(t, f.URL, tools)
	events := s.plays("go")
	all := agenttest.Each[trace.Usage](events)
	want := trace.Usage{Scope: trace.UsageTurn, Model: "m", InputTokens: 22, OutputTokens: 4, ReasoningTokens: 2, CacheReadTokens: 8, CacheWriteTokens: 6}
	if len(all) != 2 || all[1] != want {
		t.Errorf("the usage is %+v", all)
	}
	if got := outline(events); got[len(got)-1] != "failed quota no more" {
		t.Errorf("%q", got)
	}
}

func TestUsageOfMicrosoftsFrameworkIsTheNewestOfEachRun(t *testing.T) {
	t.Parallel()
	used := func(in, out int) string {
		return fmt.Sprintf(`{"type":"CUSTOM","name":"usage","value":{"input_token_count":%d,"output_token_count":%d,"cache_read_input_token_count":3,"reasoning_output_token_count":1,"openai.x":0}}`, in, out)
	}
	f := newFake(t, map[string][]string{"go": {script(started, called("c", "pick", `{}`), used(10, 2), used(25, 5), finished), script(started, text("m", "Done."), used(4, 1), finished)}})
	events := newStage(t, f.URL, tools).plays("go")
	want := trace.Usage{Scope: trace.UsageTurn, InputTokens: 29, OutputTokens: 6, ReasoningTokens: 2, CacheReadTokens: 6}
	if all := agenttest.Each[trace.Usage](events); len(all) != 2 || all[1] != want {
		t.Errorf("the usage is %+v", all)
	}
}

func TestMediaOfATool(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{"go": {script(started, called("c", "draw", `{}`),
		`{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"c","content":[{"type":"text","text":"a "},{"type":"text","text":"picture"},{"type":"image","source":{"type":"data","value":"iVBO","mimeType":"image/png"}},{"type":"document","source":{"type":"url","value":"https://example.test/a.pdf"}},{"type":"image","source":{"type":"file","value":"file-7"}}]}`, finished)}})
	same(t, newStage(t, f.URL).says("go"), []string{"draw{}", `completed:"a picture"`, "file data:image/png;base64,iVBO image/png", "file https://example.test/a.pdf ", "completed stop"})
}

func TestAStopClosesTheStream(t *testing.T) {
	t.Parallel()
	f := newFake(t, nil)
	s := newStage(t, f.URL)
	ctx, stop := context.WithCancel(t.Context())
	r, done := s.begin(ctx, words("slow"))
	if _, err := r.Await(ctx, func(e trace.Event) bool { return e.Payload.Kind() == trace.KindMessageDelta }); err != nil {
		t.Fatal(err)
	}
	stop()
	if got := outline(s.end(r, done)); got[len(got)-1] != "canceled stopped" {
		t.Errorf("%q", got)
	}
	if got := s.says("hello"); got[0] != "Hello." || !strings.HasPrefix(f.input(1).brief()[1], "assistant m word ") {
		t.Errorf("after a stop the agent says %q and knows %q", got, f.input(1).brief())
	}
}

func TestTheAddressIsUsedToTheLetter(t *testing.T) {
	t.Parallel()
	f := newFake(t, nil)
	for _, path := range []string{"/agents/a/", "/agents/a", "/a?key=b"} {
		newStage(t, f.URL+path).says("hello")
		if got := f.input(f.runs() - 1).url; got != path {
			t.Errorf("%s became %s", path, got)
		}
	}
}

func TestTheTokenOfTheCallerGoesAlong(t *testing.T) {
	t.Parallel()
	f := newFake(t, nil)
	newStage(t, f.URL, func(r *agui.Runtime) { r.Token, r.PassToken = "secret", true }).says("hello")
	if got := f.input(0).header.Get("Authorization"); got != "Bearer anns-token" {
		t.Errorf("the token is %q", got)
	}
}

func TestSettingsThatCannotBeMeantAreRefused(t *testing.T) {
	t.Setenv("AGUI_TOKEN", "secret")
	for want, s := range map[string]agent.Settings{
		"":            {URL: "http://127.0.0.1:1/agent", TokenEnv: "AGUI_TOKEN", Options: []byte(`{"tools":[{"name":"a","description":"b","parameters":{}}],"silence":"5m"}`)},
		"url is":      {URL: "ftp://x"},
		"token_env":   {URL: "http://127.0.0.1:1", TokenEnv: "NO_SUCH_VARIABLE_HERE"},
		"options":     {URL: "http://127.0.0.1:1", Options: []byte(`{"tool":[]}`)},
		"tools[0]":    {URL: "http://127.0.0.1:1", Options: []byte(`{"tools":[{"description":"b"}]}`)},
		"is a string": {URL: "http://127.0.0.1:1", Options: []byte(`{"legacy":"yes"}`)},
	} {
		_, err := agui.Adapter().New(s)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	if agui.Adapter().Decoder(agent.Settings{}) == nil {
		t.Error("the adapter reads no recordings")
	}
}
