package acp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

// piece is a line of a recording in which the agent says something in a message of its own.
func piece(kind, id, text string) string {
	return out(fmt.Sprintf(`{"sessionUpdate":"agent_%s_chunk","messageId":%q,"content":{"type":"text","text":%q}}`, kind, id, text))
}

// counts is a line of a recording in which Qwen Code counts a call of the model.
func counts(input, output int) string {
	return out(fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""},"_meta":{"usage":{"inputTokens":%d,"outputTokens":%d,"totalTokens":%d}}}`, input, output, input+output))
}

// calling and called are the beginning of a call and its result.
func calling(id, beside string) string {
	return out(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":%q,"title":"Look","kind":"read","status":"pending","rawInput":{}%s}`, id, beside))
}

func called(id string) string {
	return out(fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":%q,"status":"completed","rawOutput":"ok"}`, id))
}

// steps is what the agent says and calls in each step.
func steps(events []trace.Event) (all []string) {
	for _, e := range events {
		word := ""
		switch p := e.Payload.(type) { //nolint:gochecksumtype // the others are no words of a step
		case trace.Step:
			if p.Phase == trace.PhaseStart {
				all = append(all, "")
			}
		case trace.ThoughtStart:
			word = "thought"
		case trace.MessageStart:
			word = "text"
		case trace.ToolCallStart:
			word = p.ToolCallID
		case trace.Usage:
			if p.Scope == trace.UsageSession {
				continue
			}
			word = fmt.Sprintf("%s=%d/%d", p.Scope, p.InputTokens, p.OutputTokens)
		}
		if word != "" && len(all) > 0 && e.Actor == trace.Agent {
			all[len(all)-1] = strings.TrimSpace(all[len(all)-1] + " " + word)
		}
	}
	return all
}

func TestWhereACallOfTheModelEnds(t *testing.T) {
	t.Parallel()
	measured := out(`{"sessionUpdate":"usage_update","used":1,"size":2,"_meta":{"_claude/model":"claude-9"}}`)
	const preparing = `,"_meta":{"phase":"preparing"}`
	for name, c := range map[string]struct{ lines, want []string }{
		"text and reasoning have one id, and the next call of the model another": {
			[]string{piece("thought", "m1", "first"), piece("message", "m1", "one"), piece("thought", "m2", "again"), piece("message", "m2", "two")},
			[]string{"thought text", "thought text"},
		},
		"each part of one call of the model has an id of its own": {
			[]string{piece("thought", "p1", "first"), piece("thought", "p2", "and"), piece("message", "m1", "one"), piece("thought", "p3", "then"), piece("message", "m1", "more")},
			[]string{"thought thought text thought text"},
		},
		"texts alone": {[]string{piece("message", "m1", "one"), piece("message", "m2", "two")}, []string{"text", "text"}},
		"a call of a tool runs": {
			[]string{piece("message", "m1", "one"), calling("a", ""), piece("message", "m2", "two"), piece("message", "m3", "three"), called("a")},
			[]string{"text a text text"},
		},
		"reasoning with an id of its own follows a result": {
			[]string{piece("thought", "p1", "first"), piece("message", "m1", "one"), calling("a", ""), called("a"), piece("thought", "p2", "then"), piece("message", "m2", "two")},
			[]string{"thought text a", "thought text"},
		},
		"no ids":                          {[]string{chunk("one"), calling("a", ""), called("a"), chunk("two")}, []string{"text a", "text"}},
		"the agent counts each call":      {[]string{chunk("one"), counts(10, 2), chunk("two"), counts(20, 3)}, []string{"text step=10/2", "text step=20/3 turn=30/5"}},
		"calls of tools follow the count": {[]string{chunk("one"), counts(10, 2), calling("a", ""), called("a"), calling("b", ""), called("b")}, []string{"text step=10/2 a b turn=10/2"}},
		"the model writes calls of tools alone": {
			[]string{calling("a", preparing), counts(10, 2), called("a"), calling("b", preparing), counts(20, 3), called("b")},
			[]string{"a step=10/2", "b step=20/3 turn=30/5"},
		},
		"Claude Code measures the context, and the model writes calls of tools alone": {
			[]string{measured, calling("a", ""), measured, called("a"), measured, calling("b", ""), called("b"), measured, measured, piece("message", "m3", "three"), measured},
			[]string{"a", "b", "text"},
		},
		"a call runs while Claude Code measures the context": {[]string{calling("a", ""), measured, calling("b", ""), called("a"), measured, called("b")}, []string{"a b"}},
		"a call goes on behind the next calls of the model": {
			[]string{calling("a", preparing), counts(10, 2), piece("message", "m2", "two"), piece("message", "m3", "three"), called("a")},
			[]string{"a step=10/2", "text", "text turn=10/2"},
		},
		"a sub-agent's ids": {
			[]string{
				piece("message", "m1", "one"), calling("task", ""),
				out(`{"sessionUpdate":"agent_message_chunk","messageId":"s1","content":{"type":"text","text":"below"},"_meta":{"parentToolCallId":"task"}}`),
				out(`{"sessionUpdate":"agent_message_chunk","messageId":"s2","content":{"type":"text","text":"below too"},"_meta":{"parentToolCallId":"task"}}`),
				called("task"), piece("message", "m2", "two"),
			},
			[]string{"text task", "text"},
		},
	} {
		if diff := cmp.Diff(c.want, steps(events(t, c.lines...))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// greeted begins a recording of an agent with this name and this model.
func greeted(name, model string) []string {
	return []string{
		`{"dir":"in","msg":{"id":"i","method":"initialize","params":{}}}`,
		`{"dir":"out","msg":{"id":"i","result":{"protocolVersion":1,"agentInfo":{"name":"` + name + `","version":"1.2.3"}}}}`,
		opening,
		`{"dir":"out","msg":{"id":0,"result":{"sessionId":"s","models":{"currentModelId":"` + model + `","availableModels":[{"modelId":"` + model + `"}]}}}}`,
	}
}

func TestWhichAgentAndModelASessionHas(t *testing.T) {
	t.Parallel()
	const quota = `{"dir":"out","msg":{"id":1,"result":{"stopReason":"end_turn","usage":{"inputTokens":5,"outputTokens":2,"totalTokens":7},"_meta":{"quota":{"model_usage":[` +
		`{"model":"tiny-1","token_count":{"totalTokens":3,"inputTokens":2,"outputTokens":1}},"cut",{"model":"large-2","token_count":{"input_tokens":5,"output_tokens":2}},{"model":"tiny-3","token_count":{"input_tokens":1,"output_tokens":1}}]}}}}}`
	const counted = `{"dir":"out","msg":{"id":1,"result":{"stopReason":"end_turn","usage":{"inputTokens":5,"outputTokens":2,"totalTokens":7}}}}`
	const update = `{"sessionUpdate":"usage_update","used":1,"size":2,"_meta":{"_claude/model":"claude-9"}}`
	for name, c := range map[string]struct {
		product, model string
		lines          []string
		want           trace.AgentInfo
		used           string // the model of the turn's usage
	}{
		"the settings name the model":       {"some-agent", "model-7", []string{begun, counted}, trace.AgentInfo{Model: "model-7"}, "model-7"},
		"default names none":                {"some-agent", "default", []string{begun, counted}, trace.AgentInfo{}, ""},
		"an alias names none":               {"some-agent", "sonnet[1m]", []string{begun, counted}, trace.AgentInfo{}, ""},
		"neither does a choice":             {"some-agent", "auto-gemini-3", []string{begun, counted}, trace.AgentInfo{}, ""},
		"an effort is no part of the model": {"some-agent", "gpt-9[high]", []string{begun, counted}, trace.AgentInfo{Model: "gpt-9"}, "gpt-9"},
		"the reply counts by model":         {"some-agent", "default", []string{begun, quota}, trace.AgentInfo{Model: "large-2"}, "large-2"},
		"an update tells the model":         {"some-agent", "default", []string{begun, out(update), quota}, trace.AgentInfo{Model: "claude-9"}, "claude-9"},
		"OpenCode names the provider":       {"OpenCode", "acme/model-7/high", []string{begun, counted}, trace.AgentInfo{Provider: "acme", Model: "model-7/high"}, "model-7/high"},
		"Qwen Code names the way to log in": {"qwen-code", "$runtime|openai|qwen-9(openai)", []string{begun, counted}, trace.AgentInfo{Model: "qwen-9"}, "qwen-9"},
	} {
		p := recordings().Play(t, []byte(strings.Join(append(greeted(c.product, c.model), c.lines...), "\n")))
		var got trace.AgentInfo
		notes := 0
		for _, r := range p.Records {
			if d, ok := r.Payload.(trace.Data); ok {
				if a, ok := d.Agent(); ok {
					got, notes = got.With(a), notes+1
				}
			}
		}
		c.want.Product, c.want.Version = c.product, "1.2.3"
		if diff := cmp.Diff(c.want, got); diff != "" || notes > 2 {
			t.Errorf("%s: %d notes, %s", name, notes, diff)
		}
		var used []string
		for _, u := range agenttest.Each[trace.Usage](replaytest.Events(p.Turns[0])) {
			if u.Scope != trace.UsageSession {
				used = append(used, u.Model)
			}
		}
		if diff := cmp.Diff([]string{c.used}, used); diff != "" {
			t.Errorf("%s: the usage is of %s", name, diff)
		}
	}
}

// TestTheCallsOfTheModelAreTheTurn compares the scopes, in which nothing may count twice.
func TestTheCallsOfTheModelAreTheTurn(t *testing.T) {
	t.Parallel()
	for name, recording := range recordings().All(t) {
		for i, records := range recordings().Play(t, recording).Turns {
			var step, turn trace.Usage
			n := map[trace.UsageScope]int{}
			for _, u := range agenttest.Each[trace.Usage](replaytest.Events(records)) {
				switch n[u.Scope]++; u.Scope {
				case trace.UsageStep:
					step = step.Plus(u)
				case trace.UsageTurn:
					turn = turn.Plus(u)
				}
				if u.Scope != trace.UsageSession && u.Model == "" {
					t.Errorf("%s, turn %d: no model has used %d tokens", name, i+1, u.InputTokens)
				}
			}
			switch {
			case strings.HasPrefix(name, "opencode"):
				if n[trace.UsageTurn] > 0 || n[trace.UsageStep] > 1 {
					t.Errorf("%s, turn %d: the agent counts its last call alone, and the turn has %v", name, i+1, n)
				}
			case n[trace.UsageTurn] > 1 || n[trace.UsageStep] > 0 && step != turn:
				t.Errorf("%s, turn %d: the steps used %+v and the turn %+v", name, i+1, step, turn)
			}
		}
	}
}

func TestWhatMadeATurnFail(t *testing.T) {
	t.Parallel()
	for failure, want := range map[string]trace.Class{
		`"code":-32000,"message":"Authentication required"`:                                                                                            trace.ClassAuth,
		`"code":429,"message":"slow down"`:                                                                                                             trace.ClassRateLimit,
		`"code":-32603,"message":"{\"error\":{\"code\":503,\"message\":\"busy\",\"status\":\"UNAVAILABLE\"}}"`:                                         trace.ClassOverloaded,
		`"code":-32603,"message":"Internal error: API Error: 400 no","data":{"errorKind":"unknown"}`:                                                   trace.ClassRequest,
		`"code":-32603,"message":"Internal error","data":{"errorKind":"authentication_failed"}`:                                                        trace.ClassAuth,
		`"code":-32603,"message":"Internal error","data":{"errorKind":"billing_error"}`:                                                                trace.ClassRateLimit,
		`"code":-32603,"message":"Internal error","data":{"service":"session","errorName":"ProviderAuthError"}`:                                        trace.ClassAuth,
		`"code":-32603,"message":"Internal error","data":{"service":"session","errorName":"ContextOverflowError"}`:                                     trace.ClassContext,
		`"code":-32603,"message":"Internal error: it failed","data":{"service":"session","errorName":"APIError"}`:                                      "",
		`"code":-32603,"message":"Internal error","data":{"details":"401 wrong key"}`:                                                                  trace.ClassAuth,
		`"code":-32603,"message":"Internal error","data":{"error":{"message":"full","code":"context_length_exceeded","type":"invalid_request_error"}}`: trace.ClassContext,
		`"code":-32603,"message":"Internal error","data":{"statusCode":529}`:                                                                           trace.ClassOverloaded,
		`"code":-32603,"message":"exceeded retry limit, last status: 429 Too Many Requests"`:                                                           trace.ClassRateLimit,
		`"code":-32603,"message":"Internal error","data":{"code":"ECONNREFUSED"}`:                                                                      trace.ClassNetwork,
		`"code":-32603,"message":"Internal error","data":{"details":"it read 500 files"}`:                                                              "",
		`"code":-32603,"message":"Internal error","data":"{\"error\":{\"message\":\"no\",\"code\":\"model_not_found\"}}"`:                              trace.ClassRequest,
		`"code":-32603,"message":"Internal error","data":{"codexErrorInfo":"usageLimitExceeded","message":"no"}`:                                       trace.ClassRateLimit,
		`"code":-32603,"message":"Internal error","data":{"cause":{"code":"ETIMEDOUT","message":"no"}}`:                                                trace.ClassNetwork,
		`"code":-32602,"message":"Invalid params"`:                                                                                                     "",
	} {
		p := recordings().Play(t, []byte(strings.Join([]string{begun, `{"dir":"out","msg":{"id":1,"error":{` + failure + `}}}`}, "\n")))
		stop := agenttest.Each[trace.Stop](replaytest.Events(p.Turns[0]))[0]
		if stop.Outcome != trace.OutcomeFailed || stop.Class != want {
			t.Errorf("%s: %+v", failure, stop)
		}
	}
	p := recordings().Play(t, []byte(strings.Join([]string{begun, `{"dir":"out","msg":{"id":1,"result":{"stopReason":"max_turn_requests"}}}`}, "\n")))
	if stop := agenttest.Each[trace.Stop](replaytest.Events(p.Turns[0]))[0]; stop.Class != trace.ClassLimit {
		t.Errorf("a limit: %+v", stop)
	}
}
