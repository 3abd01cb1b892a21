package codex_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/trace"
)

// usageLine counts tokens of a thread's model call.
func usageLine(thread, turn string, input, output int) string {
	return fmt.Sprintf(`{"dir":"out","msg":{"method":"thread/tokenUsage/updated","params":{"threadId":%q,"turnId":%q,"tokenUsage":{"total":{"inputTokens":900,"outputTokens":90},"last":{"inputTokens":%d,"outputTokens":%d}}}}}`+"\n",
		thread, turn, input, output)
}

// notification is one without a turn.
func notification(method, params string) string {
	return fmt.Sprintf(`{"dir":"out","msg":{"method":%q,"params":%s}}`+"\n", method, params)
}

// opening is the beginning of a conversation by a method.
func opening(method string) string {
	return toAgent(`{"id":"i","method":"initialize","params":{}}`) + `{"dir":"out","msg":{"id":"i","result":{"userAgent":"me/0.171.0 (Debian)"}}}` + "\n" +
		toAgent(`{"id":1,"method":"`+method+`","params":{}}`) +
		`{"dir":"out","msg":{"id":1,"result":{"thread":{"id":"T","cliVersion":"0.150.0"},"model":"gpt-a","modelProvider":"openai"}}}` + "\n"
}

// turnOf is a turn with lines in it. more are fields of its prompt.
func turnOf(id, more string, lines ...string) string {
	return toAgent(`{"id":"p`+id+`","method":"turn/start","params":{"threadId":"T","input":[{"type":"text","text":"go"}]`+more+`}}`) +
		`{"dir":"out","msg":{"id":"p` + id + `","result":{"turn":{"id":"` + id + `"}}}}` + "\n" +
		notification("turn/started", `{"threadId":"T","turn":{"id":"`+id+`"}}`) + strings.Join(lines, "") +
		notification("turn/completed", `{"threadId":"T","turn":{"id":"`+id+`","status":"completed"}}`)
}

// about tells what the records say of the agent and of the usage of steps and turns, one a line.
func about(t *testing.T, lines ...string) (all []string) {
	t.Helper()
	p := recordings().Play(t, []byte(strings.Join(lines, "")))
	if p.Skipped > 0 {
		t.Errorf("%d messages were not understood: %v", p.Skipped, p.First)
	}
	for _, r := range p.Records {
		d, _ := r.Payload.(trace.Data)
		if a, is := d.Agent(); is {
			all = append(all, strings.Join(strings.Fields("agent "+strings.Join([]string{a.Product, a.Version, a.Provider, a.Model}, " ")), " "))
		}
		if u, is := r.Payload.(trace.Usage); is && u.Scope != trace.UsageSession {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %d/%d %s", r.Actor, u.Scope, u.InputTokens, u.OutputTokens, u.Model)))
		}
	}
	return all
}

func TestWhichModel(t *testing.T) {
	t.Parallel()
	start := "agent codex 0.171.0 openai gpt-a"
	reroute := notification("model/rerouted", `{"threadId":"T","turnId":"U","fromModel":"gpt-a","toModel":"gpt-b","reason":"highRiskCyberActivity"}`)
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"of the conversation", []string{opening("thread/start"), turnOf("U", "", usageLine("T", "U", 10, 1))}, []string{start, "agent step 10/1 gpt-a", "agent turn 10/1 gpt-a"}},
		{"another for one turn", []string{
			opening("thread/start"), turnOf("U", "", usageLine("T", "U", 10, 1), reroute, usageLine("T", "U", 20, 2)), turnOf("V", "", usageLine("T", "V", 30, 3)),
		}, []string{
			start, "agent step 10/1 gpt-a", "agent step 20/2 gpt-b", "agent turn 30/3", "agent gpt-b", "agent step 30/3 gpt-a", "agent turn 30/3 gpt-a", "agent gpt-a",
		}},
		{"another that the prompt asks for", []string{opening("thread/start"), turnOf("U", `,"model":"gpt-c"`, usageLine("T", "U", 10, 1))}, []string{
			start, "agent step 10/1 gpt-c", "agent turn 10/1 gpt-c", "agent gpt-c",
		}},
		{"another that another client asks for", []string{
			opening("thread/start"), notification("thread/settings/updated", `{"threadId":"T","threadSettings":{"model":"gpt-d"}}`), turnOf("U", "", usageLine("T", "U", 10, 1)),
		}, []string{start, "agent step 10/1 gpt-d", "agent turn 10/1 gpt-d", "agent gpt-d"}},
		{"of a sub-agent, whose tokens are the turn's too", []string{
			opening("thread/start"), turnOf("U", "", notification("thread/started", `{"thread":{"id":"S","parentThreadId":"T","model":"gpt-s"}}`),
				usageLine("S", "W", 5, 1), usageLine("T", "U", 10, 1)),
		}, []string{start, "subagent:S step 5/1 gpt-s", "agent step 10/1 gpt-a", "agent turn 15/2"}},
		{"the usage of the turn before comes again at a resume", []string{
			opening("thread/resume"), toAgent(`{"id":"pU","method":"turn/start","params":{"threadId":"T","input":[{"type":"text","text":"go"}]}}`), usageLine("T", "R", 700, 70),
			turnOf("U", "", usageLine("T", "R", 700, 70), usageLine("T", "U", 10, 1)),
		}, []string{start, "agent step 10/1 gpt-a", "agent turn 10/1 gpt-a"}},
		{"the agent's words alone", []string{
			`{"dir":"out","msg":{"id":1,"result":{"thread":{"id":"T","cliVersion":"0.150.0"},"model":"gpt-a","modelProvider":"openai"}}}` + "\n",
			notification("turn/started", `{"threadId":"T","turn":{"id":"U"}}`), out("item/completed", `"item":{"type":"agentMessage","id":"m","text":"Hi."}`), usageLine("T", "U", 10, 1),
		}, []string{"agent codex 0.150.0 openai gpt-a", "agent step 10/1 gpt-a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, about(t, c.lines...)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestTheStepsOfAllActorsAddUpToTheTurn(t *testing.T) {
	t.Parallel()
	both := 0
	for name, recording := range recordings().All(t) {
		for i, records := range recordings().Play(t, recording).Turns {
			var steps, turn trace.Usage
			for _, r := range records {
				switch u, _ := r.Payload.(trace.Usage); u.Scope { //nolint:exhaustive // the third is of the session
				case trace.UsageStep:
					steps = steps.Plus(u)
				case trace.UsageTurn:
					turn = u
				}
			}
			if steps.InputTokens == 0 {
				continue
			}
			both++
			if steps.InputTokens != turn.InputTokens || steps.OutputTokens != turn.OutputTokens || turn.Model == "" {
				t.Errorf("%s: the steps of turn %d have used %+v, and the turn %+v", name, i+1, steps, turn)
			}
		}
	}
	if both < 20 {
		t.Errorf("%d turns have both", both)
	}
}

func TestTheClassOfAFailure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		info, message string
		want          trace.Class
	}{
		{`"unauthorized"`, `x`, trace.ClassAuth},
		{`"usageLimitExceeded"`, `x`, trace.ClassRateLimit},
		{`"serverOverloaded"`, `x`, trace.ClassOverloaded},
		{`{"responseStreamDisconnected":{"httpStatusCode":null}}`, `x`, trace.ClassNetwork},
		{`{"responseTooManyFailedAttempts":{"httpStatusCode":429}}`, `x`, trace.ClassRateLimit},
		{`{"httpConnectionFailed":{"httpStatusCode":503}}`, `x`, trace.ClassOverloaded},
		{`"badRequest"`, `x`, trace.ClassRequest},
		{`"contextWindowExceeded"`, `x`, trace.ClassContext},
		{`"sessionBudgetExceeded"`, `x`, trace.ClassLimit},
		{`"sandboxError"`, `x`, ""},
		{`"from the future"`, `x`, ""},
		{`null`, `x`, ""},
		{`"other"`, `unexpected status 401 Unauthorized: no key`, trace.ClassAuth},
		{`"other"`, `exceeded retry limit, last status: 429 Too Many Requests`, trace.ClassRateLimit},
		{`"other"`, `stream disconnected before completion: idle timeout`, trace.ClassNetwork},
		{`"other"`, `{\"error\":{\"type\":\"invalid_request_error\",\"code\":null,\"message\":\"no\"}}`, trace.ClassRequest},
		{`"other"`, `{\"error\":{\"type\":\"invalid_request_error\",\"code\":\"context_length_exceeded\",\"message\":\"request timed out\"}}`, trace.ClassContext},
	} {
		events := play(t, begin+notification("turn/completed", `{"threadId":"T","turn":{"id":"U","status":"failed","error":{"message":"`+c.message+`","codexErrorInfo":`+c.info+`}}}`))
		if stop, _ := events[len(events)-1].Payload.(trace.Stop); stop.Outcome != trace.OutcomeFailed || stop.Class != c.want {
			t.Errorf("%s %s: it ended as %+v, want the class %q", c.info, c.message, stop, c.want)
		}
	}
}

func TestTheClassOfAFailureThatCameBeforeTheEnd(t *testing.T) {
	t.Parallel()
	events := play(t, begin+out("error", `"error":{"message":"Wait.","codexErrorInfo":"usageLimitExceeded"},"willRetry":false`)+notification("turn/completed", `{"threadId":"T","turn":{"id":"U","status":"failed"}}`))
	if stop, _ := events[len(events)-1].Payload.(trace.Stop); stop.Class != trace.ClassRateLimit || stop.Error != "Wait." {
		t.Errorf("it ended as %+v", stop)
	}
}

// play plays lines and returns the events of the one turn.
func play(t *testing.T, lines string) (events []trace.Record) {
	t.Helper()
	p := recordings().Play(t, []byte(lines))
	if p.Skipped > 0 || len(p.Turns) != 1 {
		t.Fatalf("%d turns, and %d messages were not understood: %v", len(p.Turns), p.Skipped, p.First)
	}
	return p.Turns[0]
}

func TestAReplyThatWasNotOfferedIsTakenForWhatItIs(t *testing.T) {
	t.Parallel()
	command := func(offered string) string {
		return requestLine(7, "item/commandExecution/requestApproval", `"itemId":"c","command":"ls","cwd":"/w","availableDecisions":`+offered)
	}
	permissions := requestLine(7, "item/permissions/requestApproval", `"itemId":"c","cwd":"/w","permissions":{"network":{"enabled":true},"fileSystem":null}`)
	tool := requestLine(7, "mcpServer/elicitation/request", `"serverName":"s","message":"May I?","_meta":{"codex_approval_kind":"mcp_tool_call","tool_name":"t","tool_params":{}}`)
	for _, c := range []struct {
		request, reply string
		kind           trace.OptionKind
		interrupt      bool
	}{
		{command(`["accept","cancel"]`), `{"decision":"accept"}`, trace.AllowOnce, false},
		{command(`["accept","cancel"]`), `{"decision":"acceptForSession"}`, trace.AllowAlways, false},
		{command(`["accept","cancel"]`), `{"decision":{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["ls"]}}}`, trace.AllowAlways, false},
		{command(`["accept","cancel"]`), `{"decision":"acceptUntilNoon"}`, trace.AllowOnce, false},
		{command(`["accept","cancel"]`), `{"decision":"approved_for_session"}`, trace.AllowAlways, false},
		{command(`["accept"]`), `{"decision":"cancel"}`, trace.RejectOnce, true},
		{command(`["accept"]`), `{"decision":"abort"}`, trace.RejectOnce, true},
		{command(`["accept"]`), `{"decision":"decline"}`, trace.RejectOnce, false},
		{command(`["accept"]`), `{"decision":"denied"}`, trace.RejectOnce, false},
		{command(`["accept"]`), `{}`, trace.RejectOnce, false},
		{permissions, `{"permissions":{"network":{"enabled":true}},"scope":"turn"}`, trace.AllowOnce, false},
		{permissions, `{"permissions":{"network":{"enabled":true}},"scope":"session"}`, trace.AllowAlways, false},
		{permissions, `{"permissions":{},"scope":"session"}`, trace.RejectOnce, false},
		{tool, `{"action":"accept","content":null}`, trace.AllowOnce, false},
		{tool, `{"action":"accept","content":{},"_meta":{"persist":"session"}}`, trace.AllowAlways, false},
		{tool, `{"action":"decline","content":null}`, trace.RejectOnce, false},
	} {
		var answers []trace.PermissionResponse
		for _, e := range within(t, c.request, toAgent(`{"id":7,"result":`+c.reply+`}`)) {
			if a, is := e.Payload.(trace.PermissionResponse); is {
				answers = append(answers, a)
			}
		}
		if len(answers) != 1 || answers[0].OptionKind != c.kind || answers[0].Interrupt != c.interrupt || answers[0].Allowed() != (c.kind == trace.AllowOnce || c.kind == trace.AllowAlways) {
			t.Errorf("%s is on record as %+v", c.reply, answers)
		}
	}
}

func TestACommandGoesOnInLaterTurns(t *testing.T) {
	t.Parallel()
	command := func(method, status string) string {
		return out(method, `"item":{"type":"commandExecution","id":"c","command":"sleep 9","cwd":"/w","status":"`+status+`"}`)
	}
	var got []string
	for _, r := range recordings().Play(t, []byte(opening("thread/start")+turnOf("U", "", command("item/started", "inProgress"))+
		turnOf("V", "", command("item/started", "inProgress"))+turnOf("W", "", command("item/completed", "completed")))).Records {
		switch p := r.Payload.(type) { //nolint:gochecksumtype // the others are no matter here
		case trace.ToolCall:
			got = append(got, strings.TrimSpace(r.Turn+" "+p.ToolCallID+" "+p.Continues))
		case trace.ToolResult:
			got = append(got, r.Turn+" "+string(p.Status))
		}
	}
	if d := cmp.Diff([]string{"turn-1 c", "turn-1 canceled", "turn-2 c turn-1", "turn-2 canceled", "turn-3 c turn-1", "turn-3 completed"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
