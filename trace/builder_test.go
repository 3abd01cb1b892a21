package trace_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/trace"
)

// written runs a turn and returns its events of one type.
func written[P trace.Payload](t *testing.T, say func(b *trace.Builder), options ...func(*trace.Config)) (of []P, by []trace.Event, counts trace.Counts) {
	t.Helper()
	b, log := newTurn(options...)
	say(b)
	if err := b.Finish(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted}); err != nil {
		t.Fatal(err)
	}
	if err := check(log.events); err != nil {
		t.Error(err)
	}
	for _, e := range log.events {
		if p, ok := e.Payload.(P); ok {
			of, by = append(of, p), append(by, e)
		}
	}
	return of, by, b.Counts()
}

func TestIDsAreUniqueWhateverTheAgentDoes(t *testing.T) {
	t.Parallel()
	calls, _, counts := written[trace.ToolCall](t, func(b *trace.Builder) {
		for _, id := range []string{"a", "a~2", "a", "a~2", "a", "a~2~2", "", "call", ""} {
			b.ToolCall(trace.ToolCall{ToolCallID: id})
			b.ToolResult(trace.ToolResult{ToolCallID: id})
		}
	})
	var got []string
	for _, c := range calls {
		got = append(got, c.ToolCallID)
	}
	if diff := cmp.Diff([]string{"a", "a~2", "a~3", "a~2~2", "a~4", "a~2~2~2", "call", "call~2", "call~3"}, got); diff != "" {
		t.Error(diff)
	}
	if counts.Renamed != 6 {
		t.Errorf("%d renamed", counts.Renamed)
	}
}

// An agent that names everything alike costs no more than one that doesn't.
func TestManyUsesOfOneID(t *testing.T) {
	t.Parallel()
	const n = 6_000
	calls, _, _ := written[trace.ToolCall](t, func(b *trace.Builder) {
		for i := range n / 2 {
			id := fmt.Sprintf("a~%d", i+2)
			b.ToolCall(trace.ToolCall{ToolCallID: id})
			b.ToolResult(trace.ToolResult{ToolCallID: id})
		}
		for range n / 2 {
			b.ToolCall(trace.ToolCall{ToolCallID: "a"})
			b.ToolResult(trace.ToolResult{ToolCallID: "a"})
		}
	})
	if got := calls[n-1].ToolCallID; got != fmt.Sprintf("a~%d", n) {
		t.Errorf("the last is %s", got)
	}
}

func TestL08_ParentsAndActors(t *testing.T) {
	t.Parallel()
	b, log := newTurn()
	b.ToolCall(trace.ToolCall{ToolCallID: "task"})
	sub := b.Under("task")
	sub.MessageDelta("k", "from the first")
	b.ToolResult(trace.ToolResult{ToolCallID: "task"})
	b.ToolCall(trace.ToolCall{ToolCallID: "task"}) // the id again, another call
	sub.MessageDelta("k", ", still")
	sub.MessageEnd("k")
	sub.Message("k2", "from the second")
	sub.ToolCall(trace.ToolCall{ToolCallID: "inner"})
	sub.Under("inner").Message("k", "deep")
	b.Emit(trace.FileChange{Path: "p", ToolCallID: "task"})
	b.Under("nobody").Message("k", "stray")
	if err := b.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
	if err := check(log.events); err != nil {
		t.Error(err)
	}
	names := map[string]string{"": "-"}
	var got []string
	for _, e := range log.events {
		switch p := e.Payload.(type) {
		case trace.ToolCall:
			names[e.ID] = p.ToolCallID
			got = append(got, fmt.Sprintf("%s < %s by %s", p.ToolCallID, names[e.Parent], e.Actor))
		case trace.Message:
			got = append(got, fmt.Sprintf("%q < %s by %s", p.Text, names[e.Parent], e.Actor))
		case trace.FileChange:
			got = append(got, p.ToolCallID+" changed a file")
		}
	}
	want := []string{
		"task < - by agent", "task~2 < - by agent",
		`"from the first, still" < task by subagent:task`,
		`"from the second" < task~2 by subagent:task~2`,
		"inner < task~2 by subagent:task~2", `"deep" < inner by subagent:inner`,
		"task~2 changed a file", `"stray" < - by subagent:nobody`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFinalOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		say  func(b *trace.Builder)
		want string
	}{
		{"nothing", func(*trace.Builder) {}, ""},
		{"two parts of a step", func(b *trace.Builder) { b.Message("a", "one"); b.MessageDelta("b", "two") }, "one\n\ntwo"},
		{"the newest step that has text", func(b *trace.Builder) {
			b.Message("a", "one")
			b.StepStart(trace.Step{})
			b.Message("b", "two")
			b.StepStart(trace.Step{})
			b.ToolCall(trace.ToolCall{ToolCallID: "c"})
			b.Thought("t", "hm", "")
		}, "two"},
		{"no sub-agent's", func(b *trace.Builder) { b.Message("a", "one"); b.Under("c").Message("b", "sub") }, "one"},
		{"in the order of ends", func(b *trace.Builder) {
			b.MessageDelta("a", "one")
			b.MessageDelta("b", "two")
			b.MessageEnd("b")
		}, "two\n\none"},
	} {
		stops, _, _ := written[trace.Stop](t, c.say)
		if stops[0].FinalOutput != c.want {
			t.Errorf("%s: %q, want %q", c.name, stops[0].FinalOutput, c.want)
		}
	}
	b, log := newTurn()
	b.Message("a", "streamed")
	if err := b.Finish(trace.Stop{FinalOutput: "the agent's own"}); err != nil {
		t.Fatal(err)
	}
	if s := log.events[len(log.events)-1].Payload.(trace.Stop); s.FinalOutput != "the agent's own" {
		t.Errorf("%q", s.FinalOutput)
	}
}

func TestAReopenedTurnKnowsItsTexts(t *testing.T) {
	t.Parallel()
	b, log := newTurn()
	b.Message("a", long)
	b.MessageRepeats("b", "a")
	b.Message("b", long[:17]+"-dog")
	b.ToolCall(trace.ToolCall{ToolCallID: "c"})
	b.Question(trace.Question{ToolCallID: "c"})
	if err := b.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
	var records []trace.Record
	for _, e := range log.events {
		if _, ok := e.Payload.(trace.Answer); ok {
			break
		}
		records = append(records, trace.Record{Turn: "t", Event: e})
	}
	log = &tape{}
	b = trace.Restore(t.Context(), trace.Config{Turn: "t", Append: log.append}, records)
	if a := b.Activity(); a.Tools != 1 || a.Asks != 1 {
		t.Errorf("%+v", a)
	}
	if err := b.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
	if s := log.events[len(log.events)-1].Payload.(trace.Stop); s.FinalOutput != long[:17]+"-dog" {
		t.Errorf("final output %q", s.FinalOutput)
	}
}

func TestAPauseClosesPartsForEveryReader(t *testing.T) {
	t.Parallel()
	pauses, _, _ := written[trace.Pause](t, func(b *trace.Builder) { // the grammar says the rest
		b.MessageDelta("a", "x")
		b.Under("c").MessageDelta("a", "y")
		b.Question(trace.Question{})
		b.Under("c").MessageDelta("a", "z")
		b.Emit(trace.Reply{MessageID: "m", Cause: trace.CauseAnswer})
	})
	if len(pauses) != 1 {
		t.Error(pauses)
	}
}

func TestAnEmptyStepLeavesNoTrace(t *testing.T) {
	t.Parallel()
	steps, _, _ := written[trace.Step](t, func(b *trace.Builder) {
		b.StepStart(trace.Step{Name: "one"})
		b.StepStart(trace.Step{Name: "two"})
		b.StepEnd()
		b.Message("a", "x") // in a step of no name
		b.Under("c").StepStart(trace.Step{Name: "sub"})
	})
	if diff := cmp.Diff([]trace.Step{{Phase: trace.PhaseStart}, {Phase: trace.PhaseEnd}}, steps); diff != "" {
		t.Error(diff)
	}
}

func TestE01_AStepThatTheAgentNamedIsOnRecordThoughEmpty(t *testing.T) {
	t.Parallel()
	steps, _, _ := written[trace.Step](t, func(b *trace.Builder) {
		b.StepStart(trace.Step{NativeID: "one"})
		b.StepStart(trace.Step{Name: "again", NativeID: "two"})
		b.Question(trace.Question{}) // whoever follows leaves here
		b.Message("a", "x")
		b.Under("c").StepStart(trace.Step{NativeID: "sub"})
		b.StepStart(trace.Step{Phase: trace.PhaseEnd, NativeID: "three"})
	})
	want := []trace.Step{
		{Phase: trace.PhaseStart, NativeID: "one"},
		{Phase: trace.PhaseEnd},
		{Phase: trace.PhaseStart, Name: "again", NativeID: "two"},
		{Phase: trace.PhaseEnd, Name: "again"},
		{Phase: trace.PhaseStart},
		{Phase: trace.PhaseEnd},
		{Phase: trace.PhaseStart, NativeID: "three"},
		{Phase: trace.PhaseEnd},
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Error(diff)
	}
}

func TestH27_ARepeatedStepGoesOn(t *testing.T) {
	t.Parallel()
	steps, _, _ := written[trace.Step](t, func(b *trace.Builder) {
		b.StepStart(trace.Step{NativeID: "one"})
		b.MessageDelta("a", "x")
		b.StepStart(trace.Step{NativeID: "one"}) // a turn that is taken up again says so
		b.MessageDelta("a", "y")
		b.StepStart(trace.Step{NativeID: "two"})
	})
	want := []trace.Step{
		{Phase: trace.PhaseStart, NativeID: "one"},
		{Phase: trace.PhaseEnd},
		{Phase: trace.PhaseStart, NativeID: "two"},
		{Phase: trace.PhaseEnd},
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Error(diff)
	}
}

func TestD15_ADomainEventOpensNoStep(t *testing.T) {
	t.Parallel()
	steps, _, _ := written[trace.Step](t, func(b *trace.Builder) {
		b.Emit(trace.Data{Name: "git-state", Value: json.RawMessage(`{}`), Domain: true})
	})
	if len(steps) > 0 {
		t.Error(steps)
	}
}

func TestWhoAnswersAPermissionRequest(t *testing.T) {
	t.Parallel()
	options := []trace.PermissionOption{{ID: "y", Name: "Yes", OptionKind: trace.AllowOnce}, {ID: "n", Name: "No", OptionKind: "novel"}}
	judge := func(r trace.PermissionRequest, c trace.ToolCall) (trace.PermissionResponse, bool) {
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "y"}, c.RawName == "Read" && r.Options[0].ID == "y"
	}
	responses, events, counts := written[trace.PermissionResponse](t, func(b *trace.Builder) {
		b.ToolCall(trace.ToolCall{ToolCallID: "read", RawName: "Read"})
		id, answer, decided := b.PermissionRequest(trace.PermissionRequest{RequestID: "1", ToolCallID: "read", Options: options}, trace.ToolCall{})
		if id != "1" || !decided || !answer.Allowed() || answer.By != "policy" {
			t.Errorf("%q %+v %v", id, answer, decided)
		}
		b.ToolCall(trace.ToolCall{ToolCallID: "rm", RawName: "Rm"})
		for range 2 {
			id, answer, decided = b.PermissionRequest(trace.PermissionRequest{RequestID: "1", ToolCallID: "rm", Options: options}, trace.ToolCall{})
			if decided || answer.Allowed() {
				t.Errorf("%+v", answer)
			}
		}
		if id != "1~3" || b.Activity().Asks != 2 || b.Activity().Tools != 2 {
			t.Errorf("%q, %+v", id, b.Activity())
		}
		// The caller's own word for what an option means does not count.
		no := trace.PermissionResponse{RequestID: "1~2", Outcome: trace.Selected, ChosenOption: "n", OptionKind: trace.AllowAlways, By: "ann"}
		if !b.PermissionResponse(no) || b.PermissionResponse(no) || b.Answer(trace.Answer{QuestionID: "1~3"}) || b.PermissionResponse(trace.PermissionResponse{RequestID: "9"}) {
			t.Error("answers are not accepted once")
		}
		b.ToolResult(trace.ToolResult{ToolCallID: "rm", Status: trace.ToolDenied}) // withdraws the other
	}, func(c *trace.Config) { c.Decide = judge })
	want := []trace.PermissionResponse{
		{RequestID: "1", Outcome: trace.Selected, ChosenOption: "y", OptionKind: trace.AllowOnce, By: "policy"},
		{RequestID: "1~2", Outcome: trace.Selected, ChosenOption: "n", OptionKind: trace.RejectOnce, By: "ann"},
		{RequestID: "1~3", Outcome: trace.Canceled},
	}
	if diff := cmp.Diff(want, responses); diff != "" {
		t.Error(diff)
	}
	if events[0].Actor != trace.Gateway || events[1].Actor != trace.User || events[2].Actor != trace.Gateway {
		t.Errorf("by %s, %s, %s", events[0].Actor, events[1].Actor, events[2].Actor)
	}
	if counts.Orphans != 3 || counts.Renamed != 2 {
		t.Errorf("%+v", counts)
	}
}

func TestAsksWithoutANameDifferBetweenTurns(t *testing.T) {
	t.Parallel()
	b, _ := newTurn(func(c *trace.Config) { c.Turn = "turn-9" })
	if id := b.Question(trace.Question{}); !strings.Contains(id, "turn-9") {
		t.Errorf("%q may be an old answer's", id)
	}
	if err := b.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
}

func TestAnAskAboutAnEndedCallIsAboutANewOne(t *testing.T) {
	t.Parallel()
	asks, _, _ := written[trace.PermissionRequest](t, func(b *trace.Builder) {
		b.ToolResult(trace.ToolResult{ToolCallID: "c"})
		b.PermissionRequest(trace.PermissionRequest{ToolCallID: "c"}, trace.ToolCall{})
	})
	if asks[0].ToolCallID != "c~2" {
		t.Errorf("%+v", asks)
	}
}

func TestCallsThatAreCutOff(t *testing.T) {
	t.Parallel()
	calls, _, _ := written[trace.ToolCall](t, func(b *trace.Builder) {
		b.ToolCallStart(trace.ToolCallStart{ToolCallID: "a", RawName: "Read"})
		b.ToolCallDelta("a", `{"path":"/et`)
		b.ToolCallStart(trace.ToolCallStart{ToolCallID: "b", RawName: "Read"})
		b.ToolCallDelta("b", ` {"path": "x"} `)
		b.ToolCallStart(trace.ToolCallStart{ToolCallID: "c", RawName: "Read"})
		b.ToolCall(trace.ToolCall{ToolCallID: "c", Name: "Look", Input: json.RawMessage("no JSON"), InputText: "kept"})
	})
	var got []string
	for _, c := range calls {
		got = append(got, fmt.Sprintf("%s %s %s %s", c.ToolCallID, c.Name, c.Input, c.InputText))
	}
	if diff := cmp.Diff([]string{`c Look "no JSON" kept`, `a Read {} {"path":"/et`, `b Read {"path":"x"} `}, got); diff != "" {
		t.Error(diff)
	}
}

//evidence:for limit-output
func TestOutputsAreCut(t *testing.T) {
	t.Parallel()
	const limit = 100
	for _, output := range []string{
		`"` + strings.Repeat("x", 200) + `"`, `"` + strings.Repeat(`\n`, 100) + `"`, `"` + strings.Repeat("😀", 50) + `"`,
		"{" + strings.Repeat(`"a":"\"",`, 50) + `"z":0}`, strings.Repeat("\x01", 99), strings.Repeat("\xffa", 60),
	} {
		results, _, counts := written[trace.ToolResult](t, func(b *trace.Builder) {
			b.ToolResult(trace.ToolResult{ToolCallID: "c", Output: json.RawMessage(output), Error: strings.Repeat("é", 100)})
		}, func(c *trace.Config) { c.MaxEvent = limit })
		var text string
		if err := json.Unmarshal(results[0].Output, &text); err != nil || !strings.Contains(text, "cut by the gateway") || len(results[0].Output) > limit+60 {
			t.Errorf("%q became %s, %v", output, results[0].Output, err)
		}
		if counts.Cut != 2 || len(results[0].Error) > limit+60 {
			t.Errorf("%+v, error %q", counts, results[0].Error)
		}
	}
	fits := strings.Repeat("x", limit-2)
	results, _, counts := written[trace.ToolResult](t, func(b *trace.Builder) {
		b.ToolResult(trace.ToolResult{ToolCallID: "c", Output: json.RawMessage(`"` + fits + `"`)})
	}, func(c *trace.Config) { c.MaxEvent = limit })
	if string(results[0].Output) != `"`+fits+`"` || counts.Cut != 0 {
		t.Errorf("%s", results[0].Output)
	}
}

func TestOddInput(t *testing.T) {
	t.Parallel()
	nan, huge, less := math.NaN(), math.Inf(1), -1.0
	usages, _, _ := written[trace.Usage](t, func(b *trace.Builder) {
		b.Emit(nil)
		b.Emit(trace.Prompt{Message: trace.UserMessage{Metadata: json.RawMessage("{")}})
		b.Emit(trace.Usage{CostUSD: &nan})
		b.Emit(trace.Usage{InputTokens: math.MaxInt64, OutputTokens: 1, ReasoningTokens: -1, ContextUsed: math.MaxInt64, CostUSD: &huge})
		b.Emit(trace.Usage{InputTokens: -1, OutputTokens: 7, CostUSD: &less})
		b.Emit(trace.Unknown{UnknownKind: "stop", Raw: json.RawMessage(`{"reason":"x"}`)}) // goes the way of its kind
		b.Emit(trace.Unknown{UnknownKind: "message", Raw: json.RawMessage(`1`)})
		b.Emit(trace.Unknown{})
		b.Under("").Under("c").Under("").Message("", "x")
		if s, ok := b.Result(); !ok || s.Reason != "x" {
			t.Errorf("%+v %v", s, ok)
		}
	})
	if usages[0].CostUSD != nil {
		t.Error("NaN cannot be on record")
	}
	for i, want := range []string{`{"scope":"turn","input_tokens":281474976710656,"output_tokens":1,"cost_usd":1000000000000,"context_used":281474976710656}`, `{"scope":"turn"}`} {
		if got, err := json.Marshal(usages[i+1]); err != nil || string(got) != want {
			t.Errorf("the usage %s %v, want %s", got, err, want)
		}
	}
}

func TestActivity(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	b, log := newTurn(func(c *trace.Config) { c.Now = func() time.Time { return now } })
	now = now.Add(time.Second)
	b.ToolCallStart(trace.ToolCallStart{ToolCallID: "c"})
	if a := b.Activity(); a.Tools != 0 || !a.Last.Equal(now) {
		t.Errorf("a call that is being written does not run: %+v", a)
	}
	b.ToolCall(trace.ToolCall{ToolCallID: "c"})
	id := b.Question(trace.Question{ToolCallID: "c"})
	if a := b.Activity(); a.Tools != 1 || a.Asks != 1 {
		t.Errorf("%+v", a)
	}
	now = now.Add(time.Second)
	b.Answer(trace.Answer{QuestionID: id, Values: []string{"x"}})
	b.ToolResult(trace.ToolResult{ToolCallID: "c"})
	if a := b.Activity(); a.Tools != 0 || a.Asks != 0 || !a.Last.Equal(now) {
		t.Errorf("%+v", a)
	}
	if err := b.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
	if a := log.events[len(log.events)-1]; !a.Time.Equal(now) {
		t.Errorf("stop at %s", a.Time)
	}
}
