package codex_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/adapter/codex"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

// The pieces of which the recordings in these tests are made.
const (
	begin = `{"dir":"in","msg":{"id":1,"method":"thread/start","params":{}}}
{"dir":"out","msg":{"id":1,"result":{"thread":{"id":"T"}}}}
{"dir":"in","msg":{"id":2,"method":"turn/start","params":{"threadId":"T","input":[{"type":"text","text":"go"}]}}}
{"dir":"out","msg":{"id":2,"result":{"turn":{"id":"U"}}}}
{"dir":"out","msg":{"method":"turn/started","params":{"threadId":"T","turn":{"id":"U"}}}}
`
	end = `{"dir":"out","msg":{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"completed"}}}}
`
)

// toAgent is a line to the agent.
func toAgent(msg string) string { return `{"dir":"in","msg":` + msg + "}\n" }

// out is a notification about the turn.
func out(method, params string) string {
	return fmt.Sprintf(`{"dir":"out","msg":{"method":%q,"params":{"threadId":"T","turnId":"U",%s}}}`+"\n", method, params)
}

// requestLine is a request of the agent.
func requestLine(id int, method, params string) string {
	return fmt.Sprintf(`{"dir":"out","msg":{"id":%d,"method":%q,"params":{"threadId":"T","turnId":"U",%s}}}`+"\n", id, method, params)
}

// started and done are an item.
func started(item string) string { return out("item/started", `"item":`+item) }
func done(item string) string    { return out("item/completed", `"item":`+item) }

// within plays lines inside of one turn and returns its events.
func within(t *testing.T, lines ...string) []trace.Event {
	t.Helper()
	p := recordings().Play(t, []byte(begin+strings.Join(lines, "")+end))
	if p.Skipped > 0 {
		t.Errorf("%d messages were not understood: %v", p.Skipped, p.First)
	}
	if len(p.Turns) != 1 {
		t.Fatalf("there are %d turns", len(p.Turns))
	}
	return replaytest.Events(p.Turns[0])
}

func TestEveryItemOfTheProtocolIsShownOrPassedOver(t *testing.T) {
	t.Parallel()
	for item, want := range map[string]string{
		`{"type":"mcpToolCall","id":"c","server":"s","tool":"t","arguments":{"a":1},"status":"completed","result":{"content":[{"type":"text","text":"x"}]}}`: `mcp__s__t {"a":1} completed "x"`,
		`{"type":"mcpToolCall","id":"c","server":"s","tool":"t","arguments":{},"status":"failed","error":{"message":"no"}}`:                                  `mcp__s__t {} failed no`,
		`{"type":"dynamicToolCall","id":"c","namespace":"n","tool":"t","arguments":{},"status":"completed","contentItems":[],"success":true}`:                `n.t {} completed []`,
		`{"type":"dynamicToolCall","id":"c","tool":"t","arguments":{},"status":"failed","success":false}`:                                                    `t {} failed It failed.`,
		`{"type":"webSearch","id":"c","query":"q","results":[{"url":"https://a","title":"A"}]}`:                                                              `webSearch {"action":null,"query":"q"} completed [{"url":"https://a","title":"A"}]`,
		`{"type":"imageView","id":"c","path":"/w/a.png"}`:                                                                                                    `imageView {"path":"/w/a.png"} completed ""`,
		`{"type":"commandExecution","id":"c","command":"ls","cwd":"/w","status":"failed","exitCode":2,"aggregatedOutput":"o"}`:                               `commandExecution {"command":"ls","cwd":"/w"} failed It ended with the exit code 2.`,
		`{"type":"commandExecution","id":"c","command":"ls","cwd":"/w","status":"declined"}`:                                                                 `commandExecution {"command":"ls","cwd":"/w"} denied It was not allowed.`,
		`{"type":"fileChange","id":"c","changes":[],"status":"failed"}`:                                                                                      `fileChange {"changes":[]} failed The patch could not be applied.`,
		`{"type":"collabAgentToolCall","id":"c","tool":"wait","receiverThreadIds":["X"],"agentsStates":{},"status":"completed"}`:                             `collabAgentToolCall {"prompt":"","threads":["X"],"tool":"wait"} completed {}`,
		`{"type":"plan","id":"p","text":"First this."}`:                                                                                                      `says First this.`,
		`{"type":"exitedReviewMode","id":"r","review":"All is well."}`:                                                                                       `says All is well.`,
		`{"type":"reasoning","id":"r","summary":["short"],"content":["long"]}`:                                                                               `thinks short thinks long`,
		`{"type":"imageGeneration","id":"i","status":"completed","result":"aGk="}`:                                                                           `shows data:image/png;base64,aGk=`,
		`{"type":"contextCompaction","id":"x"}`:                                                                                                              `notes compacted`,
		`{"type":"sleep","id":"x","durationMs":5}`:                                                                                                           ``,
		`{"type":"hookPrompt","id":"x","fragments":[]}`:                                                                                                      ``,
		`{"type":"enteredReviewMode","id":"x","review":"changes"}`:                                                                                           ``,
		`{"type":"functionCallOutput","id":"x","name":"n","output":"o"}`:                                                                                     ``,
	} {
		if got := shown(within(t, started(item), done(item))); got != want {
			t.Errorf("%s\n shows %s\n  want %s", item, got, want)
		}
	}
}

// shown is what a turn shows, in a few words.
func shown(events []trace.Event) string {
	var all []string
	for _, e := range events {
		switch p := e.Payload.(type) {
		case trace.Message:
			all = append(all, "says "+p.Text)
		case trace.Thought:
			all = append(all, "thinks "+p.Text)
		case trace.ToolCall:
			all = append(all, p.RawName+" "+string(p.Input))
		case trace.ToolResult:
			word := string(p.Output)
			if p.Error != "" {
				word = p.Error
			}
			all = append(all, string(p.Status)+" "+word)
		case trace.File:
			all = append(all, "shows "+p.URL)
		case trace.Error:
			all = append(all, "notes "+p.Code)
		}
	}
	return strings.Join(all, " ")
}

func TestAMessageOfAnUnknownTypeIsCounted(t *testing.T) {
	t.Parallel()
	for _, line := range []string{out("turn/fromTheFuture", `"x":1`), started(`{"type":"fromTheFuture","id":"f"}`), `{"dir":"out","msg":{"type":"from.the.future"}}` + "\n"} {
		p := recordings().Play(t, []byte(begin+line+end))
		if p.Skipped != 1 || !errors.Is(p.First, agent.ErrUnknownEvent) {
			t.Errorf("%s: %d messages were skipped: %v", line, p.Skipped, p.First)
		}
	}
}

func TestTheOptionsAreThoseThatCodexOffersAndDeclining(t *testing.T) {
	t.Parallel()
	item := `{"type":"commandExecution","id":"c","command":"/bin/bash -lc 'curl https://a'","cwd":"/w","status":"inProgress"}`
	for offered, want := range map[string]string{
		`["accept","cancel"]`:           "accept=allow_once decline=reject_once cancel=reject_once",
		`["accept","acceptForSession"]`: "accept=allow_once acceptForSession=allow_always decline=reject_once",
		`["accept",{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["curl"]}},"cancel"]`:                                                                                                "accept=allow_once acceptWithExecpolicyAmendment=allow_always decline=reject_once cancel=reject_once",
		`[{"applyNetworkPolicyAmendment":{"network_policy_amendment":{"host":"a","action":"allow"}}},{"applyNetworkPolicyAmendment":{"network_policy_amendment":{"host":"a","action":"deny"}}}]`: "allowNetwork=allow_always decline=reject_once denyNetwork=reject_always",
		`["somethingNew"]`: "decline=reject_once",
	} {
		events := within(t, started(item), requestLine(7, "item/commandExecution/requestApproval", `"itemId":"c","command":"/bin/bash -lc 'curl https://a'","cwd":"/w","availableDecisions":`+offered))
		asked := agenttest.Each[trace.PermissionRequest](events)
		if len(asked) != 1 {
			t.Fatalf("%s: %d requests", offered, len(asked))
		}
		var got []string
		for _, o := range asked[0].Options {
			got = append(got, o.ID+"="+string(o.OptionKind))
		}
		if d := cmp.Diff(want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s (-want +got):\n%s", offered, d)
		}
	}
}

// TestReplies plays every kind of request and answers it as a session does.
func TestReplies(t *testing.T) {
	t.Parallel()
	const command = `"itemId":"c","command":"ls","cwd":"/w","availableDecisions":["accept",{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["ls"]}},"cancel"]`
	const tool = `"serverName":"s","mode":"form","message":"Run t?","requestedSchema":{},"_meta":{"codex_approval_kind":"mcp_tool_call","persist":["session"],"tool_name":"t","tool_params":{}}`
	selected := func(option string) trace.PermissionResponse {
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: option}
	}
	for _, c := range []struct {
		method, params string
		answer         trace.PermissionResponse
		want           string
	}{
		{"item/commandExecution/requestApproval", command, selected("accept"), `{"decision":"accept"}`},
		{"item/commandExecution/requestApproval", command, selected("acceptWithExecpolicyAmendment"), `{"decision":{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["ls"]}}}`},
		{"item/commandExecution/requestApproval", command, selected("decline"), `{"decision":"decline"}`},
		{"item/commandExecution/requestApproval", command, trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "decline", Interrupt: true}, `{"decision":"cancel"}`},
		{"item/commandExecution/requestApproval", command, trace.PermissionResponse{Outcome: trace.Canceled}, `{"decision":"cancel"}`},
		{"item/commandExecution/requestApproval", command, trace.PermissionResponse{Outcome: trace.Expired}, `{"decision":"decline"}`},
		{"item/commandExecution/requestApproval", command, selected("no such option"), `{"decision":"decline"}`},
		{"item/commandExecution/requestApproval", command, trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "accept", UpdatedInput: json.RawMessage(`{"command":"pwd"}`)}, `{"decision":"decline"}`},
		{"item/commandExecution/requestApproval", `"itemId":"c","availableDecisions":["accept"]`, trace.PermissionResponse{Outcome: trace.Canceled}, `{"decision":"decline"}`},
		{"item/fileChange/requestApproval", `"itemId":"c"`, selected("acceptForSession"), `{"decision":"acceptForSession"}`},
		{"item/permissions/requestApproval", `"itemId":"c","cwd":"/w","permissions":{"network":{"enabled":true}}`, selected("accept"), `{"permissions":{"network":{"enabled":true}},"scope":"turn"}`},
		{"item/permissions/requestApproval", `"itemId":"c","cwd":"/w","permissions":{"network":{"enabled":true}}`, selected("acceptForSession"), `{"permissions":{"network":{"enabled":true}},"scope":"session"}`},
		{"item/permissions/requestApproval", `"itemId":"c","cwd":"/w","permissions":{"network":{"enabled":true}}`, selected("decline"), `{"permissions":{}}`},
		{"mcpServer/elicitation/request", tool, selected("accept-session"), `{"_meta":{"persist":"session"},"action":"accept","content":{}}`},
		{"mcpServer/elicitation/request", tool, selected("decline"), `{"action":"decline"}`},
		{"mcpServer/elicitation/request", tool, trace.PermissionResponse{Outcome: trace.Canceled}, `{"action":"cancel"}`},
	} {
		e, _ := effect[agent.Permit](t, requestLine(7, c.method, c.params))
		if d := cmp.Diff(`{"id":7,"result":`+c.want+`}`, string(e.Reply(c.answer))); d != "" {
			t.Errorf("%s, answered by %+v (-want +got):\n%s", c.method, c.answer, d)
		}
	}
}

func TestAnswersToQuestionsAreEncodedAsAsked(t *testing.T) {
	t.Parallel()
	const form = `"serverName":"s","mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{"age":{"type":"integer"},"name":{"type":"string"},"ok":{"type":"boolean"},"tags":{"type":"array","items":{"enum":["a","b"]}}}}`
	said := func(values ...string) trace.Answer { return trace.Answer{Outcome: trace.Selected, Values: values} }
	none := trace.Answer{Outcome: trace.Canceled}
	for _, c := range []struct {
		method, params string
		answers        []trace.Answer
		want           string
	}{
		{"item/tool/requestUserInput", `"itemId":"c","questions":[{"id":"q","question":"?","options":[{"label":"A"}]},{"id":"r","question":"?"}]`, []trace.Answer{said("A"), none}, `{"answers":{"q":{"answers":["A"]}}}`},
		{"mcpServer/elicitation/request", form, []trace.Answer{said("7"), said("Ann"), said("Yes"), said("a", "b")}, `{"action":"accept","content":{"age":7,"name":"Ann","ok":true,"tags":["a","b"]}}`},
		{"mcpServer/elicitation/request", form, []trace.Answer{none, none, none, none}, `{"action":"cancel"}`},
		{"mcpServer/elicitation/request", `"serverName":"s","mode":"url","message":"Log in","url":"https://a"`, []trace.Answer{said("Yes")}, `{"action":"accept","content":{}}`},
		{"mcpServer/elicitation/request", `"serverName":"s","mode":"url","message":"Log in","url":"https://a"`, []trace.Answer{said("No")}, `{"action":"decline"}`},
	} {
		e, _ := effect[agent.Ask](t, requestLine(7, c.method, c.params))
		if len(e.QuestionIDs) != len(c.answers) {
			t.Fatalf("%s asks %d questions", c.params, len(e.QuestionIDs))
		}
		if d := cmp.Diff(`{"id":7,"result":`+c.want+`}`, string(e.Reply(c.answers))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.params, d)
		}
	}
}

// effect decodes lines inside of a turn and returns the first effect of a kind.
func effect[E agent.Effect](t *testing.T, lines ...string) (E, []trace.Event) {
	t.Helper()
	r := agenttest.NewRecorder()
	d := codex.NewDecoder(codex.Options{})
	var found []E
	for line := range strings.Lines(begin + strings.Join(lines, "")) {
		var l struct {
			Dir agent.Dir
			Msg json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		effects, err := d.Decode(agent.Message{Dir: l.Dir, Data: l.Msg}, agenttest.OneTurn(r.Builder))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range effects {
			if e, ok := e.(E); ok {
				found = append(found, e)
			}
		}
	}
	if len(found) == 0 {
		t.Fatalf("%v has no such effect", lines)
	}
	if err := r.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
	return found[0], r.Events()
}

func TestARequestThatCodexWithdrawsIsWithdrawn(t *testing.T) {
	t.Parallel()
	resolved := out("serverRequest/resolved", `"requestId":7`)
	ask := requestLine(7, "item/commandExecution/requestApproval", `"itemId":"c","command":"ls","cwd":"/w"`)
	if e, _ := effect[agent.Withdraw](t, ask, resolved); e.Native != "7" {
		t.Errorf("withdrawn is %q", e.Native)
	}
	answers := agenttest.Each[trace.PermissionResponse](within(t, ask, resolved))
	if len(answers) != 1 || answers[0].Outcome != trace.Canceled {
		t.Errorf("on record is %+v", answers)
	}
}

// TestThePolicyJudgesTheCallThatWillRun: neither the patch nor the command that was shown first.
func TestThePolicyJudgesTheCallThatWillRun(t *testing.T) {
	t.Parallel()
	edit := `{"type":"fileChange","id":"c","changes":[{"path":"/w/a","kind":{"type":"update"},"diff":""}],"status":"inProgress"}`
	more := out("item/fileChange/patchUpdated", `"itemId":"c","changes":[{"path":"/w/a","kind":{"type":"update","move_path":"/etc/a"},"diff":""}]`)
	list := `{"type":"commandExecution","id":"c","command":"ls","cwd":"/w","status":"inProgress"}`
	for name, c := range map[string]struct {
		lines []string
		kind  trace.ToolKind
		input string
		paths []string
	}{
		"a patch that changes":          {[]string{started(edit), more, requestLine(7, "item/fileChange/requestApproval", `"itemId":"c"`)}, trace.ToolMove, `/etc/a`, []string{"/w/a", "/etc/a"}},
		"a root that is to be writable": {[]string{started(edit), requestLine(7, "item/fileChange/requestApproval", `"itemId":"c","grantRoot":"/"`)}, trace.ToolEdit, `"grant_root":"/"`, []string{"/w/a", "/"}},
		"a command that changes":        {[]string{started(list), requestLine(7, "item/commandExecution/requestApproval", `"itemId":"c","command":"rm -r /","cwd":"/w"`)}, trace.ToolExecute, `rm -r /`, nil},
		"text for a running command":    {[]string{started(list), requestLine(7, "item/commandExecution/requestApproval", `"itemId":"c","kind":"writeStdin","command":"rm","cwd":"/w"`)}, trace.ToolExecute, `rm`, nil},
		"the network":                   {[]string{started(list), requestLine(7, "item/commandExecution/requestApproval", `"itemId":"c","command":"ls","networkApprovalContext":{"host":"a"}`)}, trace.ToolOther, `"host":"a"`, nil},
		"a patch that was never shown":  {[]string{requestLine(7, "item/fileChange/requestApproval", `"itemId":"x"`)}, trace.ToolEdit, `{"changes":null}`, nil},
	} {
		var judged trace.ToolCall
		r := agenttest.NewRecorder(func(cfg *trace.Config) {
			cfg.Decide = func(_ trace.PermissionRequest, call trace.ToolCall) (trace.PermissionResponse, bool) {
				judged = call
				return trace.PermissionResponse{}, false
			}
		})
		d := codex.NewDecoder(codex.Options{})
		for line := range strings.Lines(begin + strings.Join(c.lines, "")) {
			var l struct {
				Dir agent.Dir
				Msg json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Decode(agent.Message{Dir: l.Dir, Data: l.Msg}, agenttest.OneTurn(r.Builder)); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Finish(trace.Stop{}); err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, l := range judged.Locations {
			paths = append(paths, l.Path)
		}
		if judged.ToolKind != c.kind || !strings.Contains(string(judged.Input), c.input) || !slices.Equal(paths, c.paths) {
			t.Errorf("%s: judged was %+v with %s", name, judged, judged.Input)
		}
		calls := agenttest.Each[trace.ToolCall](r.Events())
		if last := calls[len(calls)-1]; string(last.Input) != string(judged.Input) {
			t.Errorf("%s: on record is %s", name, last.Input)
		}
	}
}

func TestEventsOfASubAgentAreItsOwn(t *testing.T) {
	t.Parallel()
	sub := func(thread, text string) string {
		return strings.ReplaceAll(done(`{"type":"agentMessage","id":"m-`+thread+`","text":"`+text+`"}`), `"threadId":"T"`, `"threadId":"`+thread+`"`)
	}
	events := within(t,
		started(`{"type":"collabAgentToolCall","id":"c","tool":"spawnAgent","prompt":"p","receiverThreadIds":["X"],"status":"inProgress"}`),
		sub("X", "spawned"), sub("Y", "seen only"),
		strings.ReplaceAll(strings.ReplaceAll(end, `"T"`, `"X"`), `"U"`, `"V"`),
		done(`{"type":"agentMessage","id":"m","text":"main"}`))
	got := map[string]trace.Actor{}
	for _, e := range events {
		if m, ok := e.Payload.(trace.Message); ok {
			got[m.Text] = e.Actor
		}
	}
	want := map[string]trace.Actor{"spawned": trace.Subagent("c"), "seen only": trace.Subagent("Y"), "main": trace.Agent}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestARetryThatRepeatsItselfIsShownOnce(t *testing.T) {
	t.Parallel()
	delta := func(id, text string) string {
		return out("item/agentMessage/delta", `"itemId":"`+id+`","delta":"`+text+`"`)
	}
	retry := out("error", `"willRetry":true,"error":{"message":"Reconnecting... 1/5"}`)
	events := within(t,
		started(`{"type":"agentMessage","id":"a","text":""}`), delta("a", "The first half"), retry,
		started(`{"type":"agentMessage","id":"b","text":""}`), delta("b", "The first half"), delta("b", " and the second"),
		done(`{"type":"agentMessage","id":"b","text":"The first half and the second"}`))
	if said := agenttest.Said(events); said != "The first half and the second\n" {
		t.Errorf("it said %q", said)
	}
}

func TestUsageCountsTheTurnAndTheSession(t *testing.T) {
	t.Parallel()
	used := func(n int) string {
		return out("thread/tokenUsage/updated", fmt.Sprintf(`"tokenUsage":{"total":{"totalTokens":%d,"inputTokens":%d,"outputTokens":1},"last":{"totalTokens":110,"inputTokens":100,"cachedInputTokens":60,"outputTokens":10,"reasoningOutputTokens":4},"modelContextWindow":1000}`, 1000+n, 900+n))
	}
	var got []string
	for _, u := range agenttest.Each[trace.Usage](within(t, used(1), used(2))) {
		got = append(got, fmt.Sprint(u.Scope, u.InputTokens, u.CacheReadTokens, u.OutputTokens, u.ContextUsed, u.ContextSize))
	}
	want := []string{"step100 60 10 110 1000", "step100 60 10 110 1000", "turn200 120 20 0 0", "session902 0 1 110 1000"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestShellsAreUnwrapped(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`/bin/bash -lc 'go test ./...'`:                    `go test ./...`,
		`/bin/bash -lc ls`:                                 `ls`,
		`bash -c "echo \"a\" \$HOME"`:                      `echo "a" $HOME`,
		`/bin/zsh -lc 'echo it'"'"'s'`:                     `echo it's`,
		`/bin/bash -lc 'for i in 1; do echo it'"'s x > y"`: `for i in 1; do echo it's x > y`,
		`/bin/bash -lc 'ls' more`:                          `/bin/bash -lc 'ls' more`,
		`/bin/bash -lc 'cut off`:                           `/bin/bash -lc 'cut off`,
		`python3 -c 'print(1)'`:                            `python3 -c 'print(1)'`,
		`/bin/bash -lc ''`:                                 ``,
		``:                                                 ``,
	} {
		events := within(t, done(fmt.Sprintf(`{"type":"commandExecution","id":"c","command":%q,"status":"completed"}`, line)))
		var input struct{ Command string }
		if err := json.Unmarshal(agenttest.Each[trace.ToolCall](events)[0].Input, &input); err != nil || input.Command != want {
			t.Errorf("%s is %q, %v; want %q", line, input.Command, err, want)
		}
	}
}

// TestAnotherClientsTurn: a prompt that another client has sent into the conversation.
func TestAnotherClientsTurn(t *testing.T) {
	t.Parallel()
	p := recordings().Play(t, []byte(begin+end+strings.ReplaceAll(
		out("turn/started", `"turn":{"id":"U"}`)+started(`{"type":"userMessage","id":"u","content":[{"type":"text","text":"from the terminal"}]}`)+
			done(`{"type":"agentMessage","id":"m","text":"yes"}`)+end, `"U"`, `"V"`)))
	if len(p.Turns) != 2 {
		t.Fatalf("there are %d turns", len(p.Turns))
	}
	events := replaytest.Events(p.Turns[1])
	if asked := agenttest.Each[trace.Prompt](events); len(asked) != 1 || asked[0].Message.Parts[0].Text != "from the terminal" || agenttest.Said(events) != "yes\n" {
		t.Errorf("the turn is %+v", events)
	}
}

// TestAPromptIntoAnotherClientsTurn: Codex takes it into the turn that runs.
func TestAPromptIntoAnotherClientsTurn(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]string{`"result":{"turn":{"id":"V"}}`: "both\n", `"error":{"message":"not now"}`: ""} {
		p := recordings().Play(t, []byte(begin+end+strings.ReplaceAll(
			out("turn/started", `"turn":{"id":"U"}`)+started(`{"type":"userMessage","id":"u","content":[]}`)+
				toAgent(`{"id":9,"method":"turn/start","params":{"threadId":"T","input":[{"type":"text","text":"ours"}]}}`)+`{"dir":"out","msg":{"id":9,`+reply+"}}\n"+
				done(`{"type":"agentMessage","id":"m","text":"both"}`)+end, `"U"`, `"V"`)))
		if len(p.Turns) < 3 {
			t.Fatalf("%s: there are %d turns", reply, len(p.Turns))
		}
		events := replaytest.Events(p.Turns[2])
		if asked := agenttest.Each[trace.Prompt](events); len(asked) != 1 || asked[0].Message.Parts[0].Text != "ours" || agenttest.Said(events) != want {
			t.Errorf("%s: the turn of the prompt is %+v", reply, events)
		}
	}
}

func TestALatecomerBeginsNoTurn(t *testing.T) {
	t.Parallel()
	p := recordings().Play(t, []byte(begin+end+done(`{"type":"agentMessage","id":"m","text":"late"}`)+requestLine(7, "item/fileChange/requestApproval", `"itemId":"c"`)))
	if len(p.Turns) != 1 {
		t.Errorf("there are %d turns", len(p.Turns))
	}
}

func TestATurnThatCannotStartFails(t *testing.T) {
	t.Parallel()
	lines := toAgent(`{"id":1,"method":"turn/start","params":{"threadId":"T","input":[{"type":"text","text":"go"}]}}`) + `{"dir":"out","msg":{"id":1,"error":{"code":-32600,"message":"thread not found: T"}}}` + "\n"
	p := recordings().Play(t, []byte(lines))
	stop := agenttest.Each[trace.Stop](replaytest.Events(p.Turns[0]))[0]
	if stop.Outcome != trace.OutcomeFailed || stop.Error != "thread not found: T" {
		t.Errorf("it ended as %+v", stop)
	}
}
