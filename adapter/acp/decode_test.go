package acp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/acp"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

const (
	begun = `{"dir":"in","msg":{"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}}`
	ended = `{"dir":"out","msg":{"id":1,"result":{"stopReason":"end_turn"}}}`
)

// out is a line of a recording with an update.
func out(update string) string {
	return `{"dir":"out","msg":{"method":"session/update","params":{"sessionId":"s","update":` + update + `}}}`
}

// events plays a turn of these lines.
func events(t *testing.T, lines ...string) []trace.Event {
	t.Helper()
	p := recordings().Play(t, []byte(strings.Join(append(append([]string{begun}, lines...), ended), "\n")))
	if p.Skipped > 0 || len(p.Turns) != 1 {
		t.Fatalf("%d turns, %d skipped: %v", len(p.Turns), p.Skipped, p.First)
	}
	return replaytest.Events(p.Turns[0])
}

func TestInputThatGrowsIsShownAsItGrows(t *testing.T) {
	t.Parallel()
	all := events(t,
		out(`{"sessionUpdate":"tool_call","toolCallId":"c","name":"Write","kind":"edit","status":"pending","title":"Write","rawInput":{}}`),
		out(`{"sessionUpdate":"tool_call_update","toolCallId":"c","rawInput":{"path":"/w/a"}}`),
		out(`{"sessionUpdate":"tool_call_update","toolCallId":"c","rawInput":{"path":"/w/a","content":"half a"}}`),
		out(`{"sessionUpdate":"tool_call_update","toolCallId":"c","rawInput":{"path":"/w/a","content":"half a sentence"}}`),
		out(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","rawOutput":"ok"}`))
	var grown strings.Builder
	for _, d := range agenttest.Each[trace.ToolCallDelta](all) {
		grown.WriteString(d.Delta)
	}
	if !strings.Contains(grown.String(), `half a sentence`) {
		t.Errorf("the input grew as %s", grown.String())
	}
	if calls := agenttest.Each[trace.ToolCall](all); len(calls) != 1 || string(calls[0].Input) != `{"path":"/w/a","content":"half a sentence"}` || calls[0].Locations[0].Path != "/w/a" {
		t.Errorf("the calls are %+v", calls)
	}
}

func TestASubAgentSpeaksBelowItsCall(t *testing.T) {
	t.Parallel()
	const below = `,"_meta":{"claudeCode":{"parentToolUseId":"task"}}}`
	all := events(t,
		out(`{"sessionUpdate":"tool_call","toolCallId":"task","name":"Task","kind":"think","status":"in_progress","title":"Look"}`),
		out(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"below"}`+below),
		out(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"above"}}`),
		out(`{"sessionUpdate":"tool_call","toolCallId":"read","name":"Read","kind":"read","status":"completed","title":"Read","rawOutput":"x"`+below),
		out(`{"sessionUpdate":"tool_call_update","toolCallId":"task","status":"completed","rawOutput":"found"}`))
	want := map[string]trace.Actor{"below": trace.Subagent("task"), "above": trace.Agent, "read": trace.Subagent("task"), "task": trace.Agent}
	for _, e := range all {
		switch p := e.Payload.(type) {
		case trace.Message:
			if e.Actor != want[p.Text] {
				t.Errorf("%s is by %s", p.Text, e.Actor)
			}
		case trace.ToolCall:
			if e.Actor != want[p.ToolCallID] {
				t.Errorf("%s is by %s", p.ToolCallID, e.Actor)
			}
		}
	}
}

func TestATerminalOfTheGatewayShowsItsOutputInTheCall(t *testing.T) {
	t.Parallel()
	all := events(t,
		out(`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","status":"in_progress","title":"make","content":[{"type":"terminal","terminalId":"t1"}]}`),
		`{"dir":"out","msg":{"id":"o","method":"terminal/output","params":{"sessionId":"s","terminalId":"t1"}}}`,
		`{"dir":"in","msg":{"id":"o","result":{"output":"all is built","truncated":false}}}`,
		out(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}`))
	if p := agenttest.Each[trace.ToolResultProgress](all); len(p) != 1 || string(p[0].Output) != `"all is built"` {
		t.Errorf("it shows %v", p)
	}
	if r := agenttest.Each[trace.ToolResult](all); len(r) != 1 || string(r[0].Output) != `"all is built"` {
		t.Errorf("the result is %+v", r)
	}
}

func TestEventsBesideTheText(t *testing.T) {
	t.Parallel()
	all := events(t,
		out(`{"sessionUpdate":"plan","entries":[{"content":"one","priority":"high","status":"completed"},{"content":"two","status":"in_progress"}]}`),
		out(`{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"aGk=","mimeType":"image/png"}}`),
		out(`{"sessionUpdate":"brand_new_thing","x":1}`))
	if p := agenttest.Each[trace.Plan](all); len(p) != 1 || len(p[0].Entries) != 2 || p[0].Entries[0].Status != trace.PlanCompleted {
		t.Errorf("the plans are %+v", p)
	}
	if f := agenttest.Each[trace.File](all); len(f) != 1 || f[0].URL != "data:image/png;base64,aGk=" {
		t.Errorf("the files are %+v", f)
	}
	p := recordings().Play(t, []byte(strings.Join([]string{
		out(`{"sessionUpdate":"session_info_update","title":"A title"}`), out(`{"sessionUpdate":"current_mode_update","currentModeId":"plan"}`),
		out(`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"init","description":"Begin","input":{"hint":"where"}},"cut"]}`),
	}, "\n")))
	var names []string
	for _, r := range p.Records {
		if d, ok := r.Payload.(trace.Data); ok {
			names = append(names, d.Name)
		}
	}
	if strings.Join(names, " ") != "title mode commands" || len(p.Turns) != 0 {
		t.Errorf("outside any turn: %v, %d turns", names, len(p.Turns))
	}
}

func TestAPromptThatWaitsInTheAgentGetsATurnOfItsOwn(t *testing.T) {
	t.Parallel()
	p := recordings().Play(t, []byte(strings.Join([]string{
		begun, out(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"first"}}`),
		strings.Replace(begun, `"id":1`, `"id":2`, 1), ended,
		out(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"second"}}`),
		strings.Replace(ended, `"id":1`, `"id":2`, 1),
	}, "\n")))
	if len(p.Turns) != 2 || strings.TrimSpace(agenttest.Said(replaytest.Events(p.Turns[0]))) != "first" || strings.TrimSpace(agenttest.Said(replaytest.Events(p.Turns[1]))) != "second" {
		t.Errorf("%d turns", len(p.Turns))
	}
}

func TestTokensAreCountedInTheGatewaysMeaning(t *testing.T) {
	t.Parallel()
	for usage, want := range map[string]trace.Usage{
		`{"inputTokens":100,"outputTokens":20,"totalTokens":127,"thoughtTokens":7}`:                        {InputTokens: 100, OutputTokens: 27, ReasoningTokens: 7},
		`{"inputTokens":100,"outputTokens":20,"totalTokens":200,"cachedReadTokens":80}`:                    {InputTokens: 180, OutputTokens: 20, CacheReadTokens: 80},
		`{"inputTokens":100,"outputTokens":20,"totalTokens":120,"cachedReadTokens":80}`:                    {InputTokens: 100, OutputTokens: 20, CacheReadTokens: 80},
		`{"inputTokens":200,"outputTokens":55,"totalTokens":435,"cachedReadTokens":180,"thoughtTokens":9}`: {InputTokens: 380, OutputTokens: 55, CacheReadTokens: 180, ReasoningTokens: 9},
	} {
		p := recordings().Play(t, []byte(begun+"\n"+strings.Replace(ended, `"end_turn"`, `"end_turn","usage":`+usage, 1)))
		got := agenttest.Each[trace.Usage](replaytest.Events(p.Turns[0]))
		want.Scope = trace.UsageTurn
		if len(got) != 1 || got[0] != want {
			t.Errorf("%s\n got  %+v\n want %+v", usage, got, want)
		}
	}
}

func TestErrorsAreOneSentence(t *testing.T) {
	t.Parallel()
	for failure, want := range map[string]string{
		`{"code":-32603,"message":"Internal error: no money"}`:                                               "no money.",
		`{"code":-32603,"message":"Internal error","data":{"details":"the disk is full"}}`:                   "the disk is full.",
		`{"code":400,"message":"{\"error\":{\"code\":400,\"message\":\"bad request\"}}"}`:                    "bad request.",
		`{"code":-32603,"message":"Internal error","data":{"error":{"message":"used up until noon"}}}`:       "used up until noon.",
		`{"code":-32603,"message":"Internal error","data":{"error":"no credit left"}}`:                       "no credit left.",
		`{"code":-32603,"message":"Internal error","data":{"cause":{"code":"x","message":"used up"}}}`:       "used up.",
		`{"code":-32603,"message":"Internal error.","data":{"why":[{"en":"it is used up"}]}}`:                "it is used up.",
		`{"code":-32603,"message":"Internal error","data":[{"path":["prompt"],"message":"too long"}]}`:       "too long.",
		`{"code":-32602,"message":"Invalid params","data":[{"path":["prompt"],"message":"it is too long"}]}`: "Invalid params: it is too long.",
		`{"code":-32603,"message":"Internal error","data":"{\"error\":{\"message\":\"no such model\"}}"}`:    "no such model.",
		`{"code":-32603,"message":"internal error: 404 {\"error\":\"no such model\"}"}`:                      "404: no such model.",
		`{"code":-32603,"message":"Request failed","data":{"response":{"body":"{\"msg\":\"it is down\"}"}}}`: "it is down.",
		`{"code":-32603,"message":"The key was refused","data":{"details":"at f (a.js:1)"}}`:                 "The key was refused.",
		`{"code":-32603,"message":"Internal error","data":{"n":[1,null,true]}}`:                              "Internal error.",
		`{"code":-32603,"data":7}`:                            "error -32603.",
		`{"code":-32603,"message":"","data":"plain words"}`:   "plain words.",
		`{"code":-32000,"message":"Authentication required"}`: "Authentication required. Log in by running the agent once in a terminal, or give it a key in `env`.",
		`{"code":-32603,"message":"Internal error"}`:          "Internal error.",
	} {
		p := recordings().Play(t, []byte(begun+"\n"+`{"dir":"out","msg":{"id":1,"error":`+failure+`}}`))
		stops := agenttest.Each[trace.Stop](replaytest.Events(p.Turns[0]))
		if stops[0].Outcome != trace.OutcomeFailed || stops[0].Error != want {
			t.Errorf("%s: %+v", failure, stops[0])
		}
	}
}

// An agent's own reasons for the end of a turn are not in the protocol.
func TestAReasonThatTheProtocolDoesNotHave(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]struct {
		outcome       trace.Outcome
		error, notice string
		class         trace.Class
	}{
		`"stopReason":"end_turn"`:   {outcome: trace.OutcomeCompleted},
		`"stopReason":"max_tokens"`: {outcome: trace.OutcomeCompleted},
		`"stopReason":null`:         {outcome: trace.OutcomeCompleted},
		`"stopReason":7`:            {outcome: trace.OutcomeCompleted},
		``:                          {outcome: trace.OutcomeCompleted},
		`"stopReason":"canceled"`:   {outcome: trace.OutcomeCanceled},
		`"stopReason":"error"`:      {outcome: trace.OutcomeFailed, error: `with the reason "error", and does not say`},
		`"stopReason":"refusal","_meta":{"error":"the free plan"}`:          {outcome: trace.OutcomeFailed, error: "The model refused to go on: the free plan."},
		`"stopReason":"error","error":{"message":"it is down"}`:             {outcome: trace.OutcomeFailed, error: "it is down."},
		`"stopReason":"model_error","message":"429 slow"`:                   {outcome: trace.OutcomeFailed, error: "429 slow.", class: trace.ClassRateLimit},
		`"stopReason":"Rate-Limit","_meta":{"error":{"details":"used up"}}`: {outcome: trace.OutcomeFailed, error: "used up.", class: trace.ClassRateLimit},
		`"stopReason":"failed"`:                                             {outcome: trace.OutcomeFailed, error: `with the reason "failed"`},
		`"stopReason":"paused"`:                                             {outcome: trace.OutcomeCompleted, notice: `with the reason "paused"`},
		`"stopReason":"max_cost","message":"1 dollar"`:                      {outcome: trace.OutcomeCompleted, notice: "1 dollar."},
	} {
		p := recordings().Play(t, []byte(begun+"\n"+chunk("Half.")+"\n"+`{"dir":"out","msg":{"id":1,"result":{`+reply+`}}}`))
		all := replaytest.Events(p.Turns[0])
		stop, notices := agenttest.Each[trace.Stop](all)[0], agenttest.Each[trace.Error](all)
		if stop.Outcome != want.outcome || stop.Class != want.class || (stop.Error == "") != (want.error == "") || !strings.Contains(stop.Error, want.error) {
			t.Errorf("%s: %+v", reply, stop)
		}
		if (len(notices) > 0) != (want.notice != "") || len(notices) > 0 && (notices[0].Level != trace.LevelNotice || !strings.Contains(notices[0].Message, want.notice)) {
			t.Errorf("%s: the notices are %+v", reply, notices)
		}
	}
}

func TestAnAnswerIsSentByTheKindOfItsOption(t *testing.T) {
	t.Parallel()
	r := agenttest.NewRecorder()
	effects := decode(t, acp.NewDecoder(acp.Options{}), r.Builder, object{"id": 7, "method": "session/request_permission", "params": object{
		"sessionId": "s", "toolCall": object{"toolCallId": "c", "title": "Do it", "kind": "execute"},
		"options": []object{{"optionId": "a", "kind": "allow_once"}, {"optionId": "b", "kind": "reject_once"}},
	}})
	permit, ok := effects[0].(agent.Permit)
	if !ok || permit.Native != "7" {
		t.Fatalf("the effects are %+v", effects)
	}
	for want, answer := range map[string]trace.PermissionResponse{
		`{"outcome":"selected","optionId":"a"}`: {Outcome: trace.Selected, OptionKind: trace.AllowOnce},
		`{"optionId":"b","outcome":"selected"}`: {Outcome: trace.Expired},
		`{"outcome":"cancelled"}`:               {Outcome: trace.Canceled},
	} {
		if got := permit.Reply(answer); !strings.Contains(normal(t, got), normal(t, json.RawMessage(want))) {
			t.Errorf("%+v is sent as %s", answer, got)
		}
	}
	changed := trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "a", OptionKind: trace.AllowOnce, UpdatedInput: json.RawMessage(`{}`)}
	if got := string(permit.Reply(changed)); !strings.Contains(got, `"optionId":"b"`) {
		t.Errorf("a call that a user has changed cannot run, and the agent gets %s", got)
	}
	_ = r.Finish(trace.Stop{})
}

func TestAToolWhoseSubAgentAsksNobodyIsRefused(t *testing.T) {
	t.Parallel()
	for title, refused := range map[string]bool{"delegate": true, "delegate · recipe": true, "delegates": false, "run delegate": false} {
		r := agenttest.NewRecorder()
		effects := decode(t, acp.NewDecoder(acp.Options{LooseTools: []string{"delegate"}}), r.Builder, object{"id": 7, "method": "session/request_permission", "params": object{
			"sessionId": "s", "toolCall": object{"toolCallId": "c", "title": title, "kind": "other"},
			"options": []object{{"optionId": "a", "kind": "allow_once"}, {"optionId": "b", "kind": "reject_once"}},
		}})
		sent, is := effects[0].(agent.Send)
		if is != refused || refused && !strings.Contains(string(sent.Data), `"optionId":"b"`) {
			t.Errorf("%s: the effects are %+v", title, effects)
		}
		_ = r.Finish(trace.Stop{})
		if said := agenttest.Each[trace.Error](r.Events()); len(said) != 0 != refused {
			t.Errorf("%s: people read %+v", title, said)
		}
	}
}

// TestClaudeAgentsOwnStateIsNoQuestion: Claude Agent asks about every call. Those that change its
// own state run unless a rule wants a person, and every other request has an "always".
func TestClaudeAgentsOwnStateIsNoQuestion(t *testing.T) {
	t.Parallel()
	asks := policyThat(permission.Ask)
	for name, c := range map[string]struct {
		agent, tool string
		decide      func(trace.PermissionRequest, trace.ToolCall) (trace.PermissionResponse, bool)
		offer       func(trace.PermissionRequest) []trace.PermissionOption
		by, options string
	}{
		"a sub-agent":               {agent: "claude-agent-acp", tool: "Agent", by: "policy", options: "yes always no"},
		"a sub-agent, denied":       {agent: "claude-agent-acp", tool: "Agent", decide: policyThat(permission.Deny).decide, by: "policy", options: "yes always no"},
		"a sub-agent, a rule asks":  {agent: "claude-agent-acp", tool: "Agent", decide: asks.decide, offer: asks.offer, options: "yes no"},
		"a command":                 {agent: "claude-agent-acp", tool: "Bash", options: "yes always no"},
		"the tool of another agent": {agent: "other", tool: "Agent", options: "yes no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := agenttest.NewRecorder(func(tc *trace.Config) { tc.Decide, tc.Offer = c.decide, c.offer })
			d := acp.NewDecoder(acp.Options{Tools: toolkind.Claude()})
			for _, m := range []agent.Message{
				{Dir: agent.In, Data: json.RawMessage(`{"id":0,"method":"initialize","params":{}}`)},
				{Dir: agent.Out, Data: json.RawMessage(`{"id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"` + c.agent + `"}}}`)},
			} {
				if _, err := d.Decode(m, agenttest.OneTurn(r.Builder)); err != nil {
					t.Fatal(err)
				}
			}
			decode(t, d, r.Builder, object{"id": 7, "method": "session/request_permission", "params": object{
				"sessionId": "s", "toolCall": object{"toolCallId": "c", "name": c.tool, "rawInput": object{"prompt": "x"}},
				"options": []object{{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}},
			}})
			_ = r.Finish(trace.Stop{})
			requests := agenttest.Each[trace.PermissionRequest](r.Events())
			if len(requests) != 1 || requests[0].DecidedBy != c.by {
				t.Fatalf("on record is %+v", requests)
			}
			var options []string
			for _, o := range requests[0].Options {
				options = append(options, o.ID)
			}
			if got := strings.Join(options, " "); got != c.options {
				t.Errorf("the options are %s", got)
			}
		})
	}
}

type verdicts struct {
	decide func(trace.PermissionRequest, trace.ToolCall) (trace.PermissionResponse, bool)
	offer  func(trace.PermissionRequest) []trace.PermissionOption
}

// policyThat is a policy of one rule for all calls.
func policyThat(then permission.Verdict) verdicts {
	p := permission.Policy{Rules: []permission.Rule{{Then: then}}}
	return verdicts{
		func(r trace.PermissionRequest, c trace.ToolCall) (trace.PermissionResponse, bool) {
			return p.Decide(r, c, permission.Scope{})
		},
		func(r trace.PermissionRequest) []trace.PermissionOption {
			return permission.Offer(r.Options, permission.Grant{})
		},
	}
}

func normal(t *testing.T, data json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestARequestThatTheAgentWithdrawsIsAnswered(t *testing.T) {
	t.Parallel()
	r := agenttest.NewRecorder()
	effects := decode(t, acp.NewDecoder(acp.Options{}), r.Builder,
		object{"id": "q", "method": "session/request_permission", "params": object{"toolCall": object{"toolCallId": "c"}, "options": []object{{"optionId": "a", "kind": "allow_once"}}}},
		object{"method": "$/cancel_request", "params": object{"requestId": "q"}})
	if w, ok := effects[1].(agent.Withdraw); !ok || w.Native != `"q"` {
		t.Errorf("the effects are %+v", effects)
	}
	if s, ok := effects[2].(agent.Send); !ok || !strings.Contains(string(s.Data), "-32800") {
		t.Errorf("the effects are %+v", effects)
	}
	_ = r.Finish(trace.Stop{})
	if a := agenttest.Each[trace.PermissionResponse](r.Events()); len(a) != 1 || a[0].Outcome != trace.Canceled {
		t.Errorf("the answers are %+v", a)
	}
}

func FuzzDecode(f *testing.F) {
	var seeds [][]byte
	for name, recording := range recordings().All(f) {
		if len(recording) < 9<<10 && !strings.HasPrefix(name, "codex") {
			seeds = append(seeds, recording)
		}
	}
	seeds = append(seeds, []byte(begun+"\n"+out(`{"sessionUpdate":"tool_call","toolCallId":"c","content":[{"type":"diff","path":"p","newText":"x"}],"rawInput":[1]}`)+"\n"+
		`{"dir":"out","msg":{"id":2,"method":"fs/write_text_file","params":{"path":"p","content":"x"}}}`+"\n"+
		`{"dir":"out","msg":{"id":3,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"properties":{"a":{"type":"array"}}}}}}`+"\n"+
		`{"dir":"in","msg":{"id":3,"result":{"action":"accept","content":{"a":["x"]}}}}`+"\n"+ended))
	recordings().Fuzz(f, seeds...)
}

// TestLostDoubledAndMovedLines plays recordings that were damaged line by line.
func TestLostDoubledAndMovedLines(t *testing.T) {
	t.Parallel()
	recordings().Damaged(t, 6)
}
