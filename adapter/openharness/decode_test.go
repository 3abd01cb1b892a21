package openharness_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/openharness"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

// outcomeOf is what became of a recording, a line for each whole thing.
func outcomeOf(t *testing.T, lines ...string) (out []string) {
	t.Helper()
	p := play(t, []byte(strings.Join(lines, "\n")))
	if p.Skipped > 0 {
		t.Errorf("%d messages were not understood: %v", p.Skipped, p.First)
	}
	for _, e := range replaytest.Events(p.Records) {
		switch p := e.Payload.(type) {
		case trace.Message:
			out = append(out, p.Text)
		case trace.Thought:
			out = append(out, "("+p.Text+")")
		case trace.ToolResult:
			out = append(out, fmt.Sprintf("%s %s %s%s", p.ToolCallID, p.Status, p.Error, p.Output))
		case trace.Step:
			if p.Phase == trace.PhaseStart && p.Name != "" {
				out = append(out, "step "+p.Name)
			}
		case trace.Error:
			out = append(out, "notice: "+p.Message)
		case trace.Question:
			out = append(out, "asks: "+p.Text)
		case trace.Answer:
			out = append(out, "answer: "+strings.Join(p.Values, ", "))
		case trace.PermissionRequest:
			out = append(out, "asks: "+p.Title)
		case trace.PermissionResponse:
			out = append(out, "answer: "+p.ChosenOption)
		case trace.Usage:
			out = append(out, fmt.Sprintf("usage %d %d %.2f", p.InputTokens, p.OutputTokens, *p.CostUSD))
		case trace.Stop:
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", p.Outcome, p.Reason, p.Error)))
		}
	}
	return out
}

func want(t *testing.T, got []string, lines ...string) {
	t.Helper()
	if !slices.Equal(got, lines) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(lines, "\n\t"))
	}
}

// on is an event of the kernel; more are JSON members.
func on(kind, run string, more ...string) string {
	at := ""
	if run != "" {
		at = fmt.Sprintf(`,"nodeId":"n%s","runId":"r%s"`, run, run)
	}
	return `{"type":"` + kind + `","timestamp":1` + at + strings.Join(append([]string{""}, more...), ",") + "}"
}

func content(text string) string { b, _ := json.Marshal(text); return `"content":` + string(b) }

const failed = `"status":"failed"`

func TestK04_K05_AFullTextAfterItsDeltasIsNotShownTwice(t *testing.T) {
	t.Parallel()
	want(t, outcomeOf(t, on("flow:start", ""), on("agent:start", "1"),
		on("agent:thinking:delta", "1", content("I ")), on("agent:thinking:delta", "1", content("")), on("agent:thinking:delta", "1", content("think.")),
		on("agent:text:delta", "1", content("One.")),
		on("agent:thinking", "1", content("I think.")),                                 // late
		on("agent:text", "1", content("One.")), on("agent:text", "1", content("One.")), // twice
		on("agent:tool", "1", `"toolName":"Read"`),
		on("agent:text", "1", content("One.")), // and again, as an answer of its own
		on("flow:complete", "", `"status":"complete"`)),
		"(I think.)", "One.", "r1-1 completed null", "One.", "completed stop")
}

func TestAFullTextOfSeveralPartsIsNotShownTwice(t *testing.T) {
	t.Parallel()
	want(t, outcomeOf(t, on("flow:start", ""),
		on("agent:text:delta", "1", content("One, ")), on("agent:thinking:delta", "1", content("Hm.")), on("agent:text:delta", "1", content("two.")),
		on("agent:text", "1", content("One, two.")), on("flow:complete", "")),
		"One, ", "(Hm.)", "two.", "completed stop")
}

func TestAProviderWithoutDeltasIsHeard(t *testing.T) {
	t.Parallel()
	want(t, outcomeOf(t, on("flow:start", ""), on("agent:start", "1"), on("agent:start", "2"),
		on("agent:thinking", "1", content("Hm.")), on("agent:text", "2", content("Two.")), on("agent:text", "1", content("One.")),
		on("agent:complete", "1", `"result":"One."`), on("agent:start", "3"), on("agent:complete", "3", `"result":"Only a result."`), on("agent:complete", "2"),
		on("flow:complete", "")),
		"(Hm.)", "Two.", "One.", "Only a result.", "completed stop")
}

func TestK07_RunsAtTheSameTimeAreKeptApart(t *testing.T) {
	t.Parallel()
	want(t, outcomeOf(t, on("flow:start", ""), on("node:start", "1"), on("node:start", "2"),
		on("agent:text:delta", "1", content("I talk ")), on("agent:text:delta", "2", content("So do ")), on("agent:text:delta", "1", content("first.")),
		on("agent:tool", "2", `"toolName":"Bash","toolInput":{"command":"ls"},"toolOutput":"a"`), on("agent:text:delta", "1", content(" Still.")),
		on("agent:text", "1", content("I talk first. Still.")), on("node:complete", "1"), on("agent:text:delta", "2", content("I.")),
		on("node:complete", "2"), on("node:start", "3"), on("agent:text", "3", content("Last.")), on("node:complete", "3"), on("flow:complete", "")),
		"step n1", "So do ", `r2-1 completed "a"`, "I talk first. Still.", "I.", "step n3", "Last.", "completed stop")
}

func TestK06_K09_CallsOfOneToolHaveIdsOfTheirOwn(t *testing.T) {
	t.Parallel()
	want(t, outcomeOf(t, on("flow:start", ""), on("agent:tool", "1", `"toolName":"Bash","toolOutput":"a"`), on("agent:tool", "1", `"toolName":"Bash","error":"no such file"`),
		on("agent:tool", "1"), on("flow:complete", "")),
		`r1-1 completed "a"`, "r1-2 failed no such filenull", "r1-3 completed null", "completed stop")
}

func TestK11_TheEndOfAnAgentIsNotTheEndOfItsFlow(t *testing.T) {
	t.Parallel()
	usage := `"usage":{"inputTokens":2,"outputTokens":3},"totalCostUsd":0.25`
	want(t, outcomeOf(t, on("flow:start", ""), on("agent:text", "1", content("One.")), on("agent:complete", "1", usage), on("agent:text", "2", content("Two.")),
		on("agent:complete", "2", usage), on("flow:complete", "")), "One.", "Two.", "usage 4 6 0.50", "completed stop")
	// without a flow, the last agent ends the turn
	want(t, outcomeOf(t, on("agent:start", "1"), on("command:received", ""), on("agent:start", "2"), on("agent:text", "1", content("One.")), on("agent:complete", "1"), on("agent:complete", "2", `"result":"Two."`)),
		"One.", "Two.", "completed stop")
}

func TestK08_AnErrorThatTheFlowSurvivesIsANotice(t *testing.T) {
	t.Parallel()
	want(t, outcomeOf(t, on("flow:start", ""), on("agent:error", "1", `"message":"overloaded"`), on("agent:start", "1"), on("agent:text", "1", content("One.")),
		on("node:error", "1", `"error":"no disk"`), on("flow:complete", "")), "notice: overloaded", "One.", "notice: no disk", "completed stop")
	want(t, outcomeOf(t, on("flow:start", ""), on("agent:error", "1", `"message":"overloaded"`), on("node:error", "1", `"error":"overloaded"`), on("flow:complete", "", failed)), "failed error overloaded")
	want(t, outcomeOf(t, on("flow:start", ""), on("flow:complete", "", failed)), "failed error The flow failed, and does not say why.")
	want(t, outcomeOf(t, on("agent:start", "1"), on("agent:error", "1", `"message":"overloaded"`)), "failed error overloaded")
}

func TestAPausedFlowAsksAPerson(t *testing.T) {
	t.Parallel()
	const asks = "asks: The flow is paused. Let it go on, or send it a message."
	say := func(c string) string {
		return `{"t":1,"dir":"c2s","msg":{"type":"command","command":` + c + `}}`
	}
	out := func(e string) string { return `{"t":1,"dir":"s2c","msg":{"type":"event","event":` + e + `}}` }
	want(t, outcomeOf(t, say(`{"type":"send","message":"Go","runId":"r"}`), out(on("flow:start", "")), out(on("agent:text:delta", "1", content("One"))),
		out(on("agent:paused", "1")), out(on("flow:paused", "")), say(`{"type":"resume","message":"Shorter"}`), out(on("flow:resumed", "")),
		out(on("agent:text:delta", "1", content("Two"))), out(on("flow:complete", "")), say(`{"type":"send","message":"Again","runId":"r"}`), out(on("agent:text", "1", content("Three")))),
		"One", asks, "answer: Shorter", "Two", "completed stop", "Three", "canceled recording_ended")
	want(t, outcomeOf(t, say(`{"type":"send","message":"Go"}`), out(on("flow:start", "")), out(on("flow:paused", "")), out(on("flow:resumed", "")), out(on("flow:aborted", ""))),
		asks, "answer: Go on", "canceled aborted")
	want(t, outcomeOf(t, say(`{"type":"send","message":"Go"}`), out(on("agent:start", "1")), say(`{"type":"abort"}`), out(on("agent:aborted", "1"))), "canceled aborted")
}

// K14: what a flow does beside the conversation is marked as such.
func TestK14_EventsOfTheFlowAreNoPartOfTheConversation(t *testing.T) {
	t.Parallel()
	p := play(t, []byte(strings.Join([]string{
		on("flow:start", "", `"flowName":"f"`), on("node:skipped", "", `"nodeId":"n","reason":"when"`), on("edge:fire", "", `"edgeId":"e","from":"a","to":"b"`),
		on("loop:iterate", "", `"edgeId":"e","iteration":2`), on("state:patch", "", `"patch":{"op":"add"}`), on("node:complete", "1", `"output":{"a":1}`), on("flow:paused", ""), on("flow:aborted", ""),
	}, "\n")))
	var got []string
	for _, e := range replaytest.Events(p.Records) {
		if d, ok := e.Payload.(trace.Data); ok && d.Domain {
			got = append(got, d.Name+" "+string(d.Value))
		}
	}
	want(t, got, `flow-status {"status":"running","flowName":"f"}`, `node {"nodeId":"n","reason":"when","status":"skipped"}`, `edge {"edgeId":"e","from":"a","to":"b"}`,
		`loop {"edgeId":"e","iteration":2}`, `state-patch {"op":"add"}`, `node-output {"nodeId":"n1","output":{"a":1},"runId":"r1"}`,
		`flow-status {"status":"paused","flowName":"f"}`, `flow-status {"status":"aborted","flowName":"f"}`)
}

func TestChunksOfTheHTTPServerAreRepaired(t *testing.T) {
	t.Parallel()
	sse := func(chunks ...string) (lines []string) {
		for _, c := range chunks {
			lines = append(lines, "data: "+c+"\n")
		}
		return lines
	}
	call := `{"type":"tool-input-available","toolCallId":"r-Bash","toolName":"Bash","input":{"command":"ls"}}`
	want(t, outcomeOf(t, sse(`{"type":"step-start"}`, `{"type":"text-start","id":"m"}`, `{"type":"text-delta","id":"m","delta":"One."}`, `{"type":"text-end","id":"m"}`,
		call, `{"type":"tool-output-available","toolCallId":"r-Bash","output":"a"}`, call, `{"type":"error","errorText":"no such file"}`,
		`{"type":"text-delta","id":"m","delta":"Two."}`, `{"type":"reasoning-delta","id":"m","delta":"Hm."}`, `[DONE]`)...),
		"One.", `r-Bash completed "a"`, "r-Bash~2 failed no such filenull", "Two.", "(Hm.)", "completed stop")
	want(t, outcomeOf(t, sse(`{"type":"error","errorText":"overloaded"}`, `{"type":"text-delta","id":"m","delta":"One."}`)...), "notice: overloaded", "One.", "completed stop")
	want(t, outcomeOf(t, sse(`{"type":"text-delta","id":"m","delta":"One."}`, `{"type":"error","errorText":"overloaded"}`)...), "One.", "failed error overloaded")
}

// entry is an event of Open Scaffold's log.
func entry(id, name, payload string) string {
	return `{"id":"` + id + `","name":"` + name + `","payload":{` + payload + `},"timestamp":"2026-01-01T00:00:00Z"}`
}

func TestTheLogOfOpenScaffold(t *testing.T) {
	t.Parallel()
	want(t, outcomeOf(t, entry("0", "state:intent", `"state":{}`), entry("1", "workflow:started", `"input":{"a":1}`), entry("2", "agent:started", `"agent":"a"`),
		entry("3", "text:delta", `"agent":"a","delta":"One."`), entry("3", "text:delta", `"agent":"a","delta":"One."`), // sent again
		entry("4", "tool:called", `"agent":"a","toolName":"Bash"`), entry("5", "tool:result", `"agent":"a","output":"x","isError":true`), // without an id
		entry("6", "agent:completed", `"agent":"a","output":{"b":2}`), entry("7", "agent:started", `"agent":"b"`), entry("8", "agent:completed", `"agent":"b","output":"All said."`),
		entry("9", "input:requested", `"id":"q","prompt":"Which?","type":"choice","options":["red","blue"]`), entry("10", "input:received", `"id":"q","value":"red"`),
		entry("11", "input:requested", `"id":"p","prompt":"Build?","type":"approval"`), entry("12", "input:received", `"id":"p","value":"no","approved":false`),
		entry("13", "input:requested", `"id":"p2","prompt":"Build?","type":"approval"`), entry("14", "input:received", `"id":"p2","response":"yes"`),
		entry("15", "workflow:completed", `"finalState":{}`)),
		"step a", "One.", `a-1 failed x"x"`, "step b", "All said.", "asks: Which?", "answer: red",
		"asks: Build?", "answer: no", "p denied Not allowed.null", "asks: Build?", "answer: yes", `p2 completed "yes"`, "completed stop")
}

// The answer to a request would count for a later one of the same id, so that one takes its place.
func TestARequestOfOpenScaffoldWithAnotherContentIsAskedAnew(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"approval", "choice"} {
		asks := func(id, prompt string) string {
			return entry(id, "input:requested", `"id":"p","prompt":"`+prompt+`","type":"`+kind+`"`)
		}
		r := agenttest.NewRecorder()
		decoder := openharness.NewDecoder()
		var asked []string
		for _, line := range []string{entry("1", "workflow:started", `"workflow":"w"`), asks("2", "Build?"), asks("3", "Build?"), asks("4", "Deploy?"), entry("5", "input:received", `"id":"p","value":"yes","approved":true`)} {
			effects, err := decoder.Decode(agent.Message{Dir: agent.Out, Data: []byte(line)}, turns{r.Builder})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range effects {
				switch e := e.(type) {
				case agent.Permit:
					asked = append(asked, e.RequestID)
				case agent.Ask:
					asked = append(asked, e.QuestionIDs...)
				}
			}
		}
		if len(asked) != 2 || asked[0] == asked[1] {
			t.Fatalf("%s: asked %q", kind, asked)
		}
		for i, want := range []trace.PermissionOutcome{trace.Canceled, trace.Selected} {
			q, _ := r.Builder.Request(asked[i])
			got := trace.PermissionOutcome("")
			switch a := q.Answer.(type) {
			case trace.PermissionResponse:
				got = a.Outcome
			case trace.Answer:
				got = a.Outcome
			}
			if got != want {
				t.Errorf("%s: the request %s has the answer %+v, want %s", kind, asked[i], q.Answer, want)
			}
		}
		_ = r.Finish(trace.Stop{Outcome: trace.OutcomeCompleted})
	}
}

// turns has one turn.
type turns struct{ *trace.Builder }

func (t turns) Prompted(trace.Prompt) *trace.Builder { return t.Builder }
func (t turns) Begin(agent.TurnInfo) *trace.Builder  { return t.Builder }
func (t turns) Current() *trace.Builder              { return t.Builder }
func (turns) Note(trace.Payload)                     {}

// The gateway that goes on with a turn asks, and not the one that has given the turn up.
func TestAGatewayThatHasGivenATurnUpAnswersNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"approval", "text"} {
		host := agenttest.NewHost()
		r, d := host.Turn(prompt("go")), openharness.NewDecoder()
		decode := func(data string) []agent.Effect {
			effects, err := d.Decode(agent.Message{Dir: agent.Out, Data: json.RawMessage(data)}, turns{r.Builder})
			if err != nil {
				t.Error(err)
			}
			return effects
		}
		decode(entry("1", "workflow:started", `"workflow":"w"`))
		if err := r.Detach(); err != nil {
			t.Fatal(err)
		}
		if effects := decode(entry("2", "input:requested", `"id":"p","prompt":"Build?","type":"`+kind+`"`)); len(effects) > 0 {
			t.Errorf("%s: %+v", kind, effects)
		}
	}
}

func TestWhatMadeAFlowFail(t *testing.T) {
	t.Parallel()
	agentFails := func(kind, message string) string {
		return on("agent:error", "1", `"errorType":"`+kind+`","message":"`+message+`"`)
	}
	for name, c := range map[string]struct {
		lines []string
		want  trace.Class
	}{
		"a key that is not valid":                  {[]string{agentFails("auth", "no")}, trace.ClassAuth},
		"too many requests":                        {[]string{agentFails("rate_limit", "slow")}, trace.ClassRateLimit},
		"the kind is no class":                     {[]string{agentFails("api", "no")}, ""},
		"the node repeats it":                      {[]string{agentFails("network", "no route"), on("node:error", "1", `"error":"agent: no route"`)}, trace.ClassNetwork},
		"the node fails by itself":                 {[]string{agentFails("network", "no route"), on("agent:start", "1"), on("node:error", "1", `"error":"no disk"`)}, ""},
		"another agent fails, and gives no reason": {[]string{agentFails("network", "no route"), on("agent:start", "2"), on("agent:error", "2", `"message":"broken"`)}, ""},
	} {
		recording := append(append([]string{on("flow:start", "")}, c.lines...), on("flow:complete", "", failed))
		stop := agenttest.Each[trace.Stop](replaytest.Events(play(t, []byte(strings.Join(recording, "\n"))).Records))
		if len(stop) != 1 || stop[0].Outcome != trace.OutcomeFailed || stop[0].Class != c.want {
			t.Errorf("%s: %+v", name, stop)
		}
	}
}

func TestWhichModelsAFlowUses(t *testing.T) {
	t.Parallel()
	var models []string
	for _, r := range play(t, []byte(strings.Join([]string{
		on("flow:start", ""), on("agent:start", "1", `"model":"model-1"`), on("agent:complete", "1"), on("agent:start", "2", `"model":"model-1"`), on("agent:complete", "2"),
		on("agent:start", "3", `"model":"default"`), on("agent:start", "4"), on("agent:start", "5", `"model":"model-2"`), on("flow:complete", ""),
	}, "\n"))).Records {
		if d, is := r.Payload.(trace.Data); is {
			if a, is := d.Agent(); is {
				models = append(models, a.Model)
			}
		}
	}
	if strings.Join(models, " ") != "model-1 model-2" {
		t.Errorf("the models are %q", models)
	}
}
