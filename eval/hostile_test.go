package eval_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/export/atif"
	"github.com/tributary-dev/tributary/export/exporttest"
	"github.com/tributary-dev/tributary/trace"
)

// verdict is what one grader finds in a session.
func verdict(t *testing.T, grader string, records []trace.Record) eval.Finding {
	t.Helper()
	return parse(t, grader).Grade(t.Context(), read(t, records), eval.Means{}).Graders[0]
}

// Numbers are equal if they are the same number, however large, and lists if each value is.
func TestNumbersOfInputs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		input, want string
		same        bool
	}{
		{`9007199254740992`, `9007199254740993`, false},
		{`9007199254740993`, `9007199254740993`, true},
		{`18446744073709551615`, `18446744073709551614`, false},
		{`-9007199254740993`, `-9007199254740992`, false},
		{`[9007199254740992]`, `[9007199254740993]`, false},
		{`{"a":[{"b":9007199254740993}]}`, `{"a":[{"b":9007199254740992}]}`, false},
		{`1.0`, `1`, true},
		{`1e2`, `100`, true},
		{`[1.0, {"a": 2}]`, `[1, {"a": 2.0}]`, true},
		{`[{"a":1,"b":2}]`, `[{"a":1}]`, false},
		{`{"a":1,"b":2}`, `{"a":1}`, true},
		{`"1"`, `1`, false},
		{`0.1`, `0.1`, true},
		{`{"a":1}`, `1`, false},
		{`1`, `{"a":1}`, false},
		{`[]`, `[]`, true},
		{`[1]`, `[1,2]`, false},
	} {
		s := exporttest.NewSession()
		s.Turn(t.Context(), "go", completed(), func(b *trace.Builder) { call(b, "c", trace.ToolRead, "Read", `{"v":`+c.input+`}`) })
		if f := verdict(t, `{type: tools, calls: [{args: {v: `+c.want+`}}]}`, s.Records); (f.Verdict == eval.Passed) != c.same {
			t.Errorf("%s and %s: %+v", c.input, c.want, f)
		}
	}
}

// used is a session in which each step has a usage, or none, and a sum of the turn may follow.
func used(t *testing.T, all ...*trace.Usage) []trace.Record {
	t.Helper()
	s := exporttest.NewSession()
	s.Turn(t.Context(), "go", completed(), func(b *trace.Builder) {
		for i, u := range all {
			if u == nil || u.Scope == trace.UsageStep {
				b.StepStart(trace.Step{})
				b.Message(fmt.Sprint(i), "some words")
			}
			if u != nil {
				b.Emit(*u)
			}
		}
	})
	return s.Records
}

func TestBudgetsOfStrangeFigures(t *testing.T) {
	t.Parallel()
	step := func(in, out int64, cost ...float64) *trace.Usage {
		u := trace.Usage{Scope: trace.UsageStep, InputTokens: in, OutputTokens: out}
		if cost != nil {
			u.CostUSD = &cost[0]
		}
		return &u
	}
	sum := func(in, out int64, cost float64) *trace.Usage {
		return &trace.Usage{Scope: trace.UsageTurn, InputTokens: in, OutputTokens: out, CostUSD: &cost}
	}
	const most = 1<<63 - 1
	for name, c := range map[string]struct {
		usages         []*trace.Usage
		tokens, cost   eval.Verdict // of 15 tokens and 1 dollar
		tokensS, cost2 string
	}{
		"all told":         {[]*trace.Usage{step(5, 5, .5), step(3, 2, .5)}, eval.Passed, eval.Passed, "15 tokens", "1 US dollars"},
		"a step is silent": {[]*trace.Usage{step(5, 5, .5), nil}, eval.Unclear, eval.Unclear, "10 tokens and perhaps more", "0.5 US dollars and perhaps more"},
		"the first is":     {[]*trace.Usage{nil, step(5, 5, .5)}, eval.Unclear, eval.Unclear, "10 tokens", "0.5"},
		"but the turn not": {[]*trace.Usage{step(5, 5, .5), nil, sum(8, 7, 1)}, eval.Passed, eval.Passed, "15 tokens", "1 US dollars"},
		"no cost":          {[]*trace.Usage{step(5, 5, .5), step(1, 1)}, eval.Passed, eval.Unclear, "12 tokens", "0.5"},
		"negative":         {[]*trace.Usage{step(-1000, 0, -5), step(10, 5, 1)}, eval.Unclear, eval.Unclear, "15 tokens and", "1 US dollars and"},
		"negative, over":   {[]*trace.Usage{step(-1000, 0, -5), step(1000, 5, 1.5)}, eval.Failed, eval.Failed, "1005 tokens", "1.5 US dollars"},
		"unknown as -1":    {[]*trace.Usage{step(-1, -1, -1), step(10, 1, 0)}, eval.Unclear, eval.Unclear, "11 tokens", "0 US"},
		"overflow":         {[]*trace.Usage{step(most, most, 1e308), step(most, most, 1e308)}, eval.Failed, eval.Failed, "1125899906842624 tokens", "2000000000000 US dollars"},
	} {
		records := used(t, c.usages...)
		if f := verdict(t, `{type: budget, tokens: 15}`, records); f.Verdict != c.tokens || !strings.HasPrefix(strings.Replace(f.Reason, "the trace does not tell of US dollars", "0 US", 1), c.tokensS) {
			t.Errorf("%s: %+v", name, f)
		}
		if f := verdict(t, `{type: budget, cost_usd: 1}`, records); f.Verdict != c.cost || !strings.HasPrefix(strings.Replace(f.Reason, "the trace does not tell of US dollars", "0 US", 1), c.cost2) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// A step that a question divides is one call of the model, whose usage is on one side.
func TestUsageOfADividedStep(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	s.Turn(t.Context(), "go", completed(), func(b *trace.Builder) {
		b.StepStart(trace.Step{})
		call(b, "c", trace.ToolExecute, "Bash", `{}`)
		ask(b, "r", "c", "yes")
		result(b, "c", trace.ToolCompleted)
		b.Message("m", "more")
		b.Emit(trace.Usage{Scope: trace.UsageStep, InputTokens: 5, OutputTokens: 1})
	})
	if f := verdict(t, `{type: budget, tokens: 6}`, s.Records); f.Verdict != eval.Passed {
		t.Errorf("%+v", f)
	}
}

// Records of another program can have words that no closed set has.
func TestWordsOfOtherPrograms(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	s.Turn(t.Context(), "go", completed(), func(b *trace.Builder) {
		call(b, "c", trace.ToolDelete, "Remove", `{}`)
		ask(b, "r", "c", "yes")
		result(b, "c", trace.ToolCompleted)
	})
	for i, r := range s.Records {
		switch p := r.Payload.(type) {
		case trace.ToolCall:
			p.ToolKind = "remove"
			s.Records[i].Payload = p
		case trace.PermissionResponse:
			p.OptionKind = "allow_for_a_year"
			s.Records[i].Payload = p
		case trace.ToolResult:
			p.Status = "done"
			s.Records[i].Payload = p
		case trace.Stop:
			p.Outcome = "well"
			s.Records[i].Payload = p
		}
	}
	for grader, want := range map[string]eval.Verdict{
		`{type: tools, not: true, calls: [{kind: delete}]}`:      eval.Unclear,
		`{type: tools, calls: [{kind: other}]}`:                  eval.Passed,
		`{type: permission, kind: delete, asked: 1}`:             eval.Unclear,
		`{type: tools, not: true, calls: [{status: completed}]}`: eval.Unclear,
		`{type: tools, calls: [{status: failed}]}`:               eval.Unclear,
		`{type: outcome, completed: true}`:                       eval.Failed,
		`{type: permission, allowed: 1}`:                         eval.Unclear,
		`{type: permission, kind: execute, before_effect: true}`: eval.Unclear,
	} {
		if f := verdict(t, grader, s.Records); f.Verdict != want {
			t.Errorf("%s: %+v", grader, f)
		}
	}
}

// A file can lack records, or have two calls of one id in a turn.
func TestCallsThatAreBadlyOnRecord(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	s.Turn(t.Context(), "go", completed(), func(b *trace.Builder) {
		for _, name := range []string{"rm", "ls"} {
			call(b, name, trace.ToolExecute, "Bash", `{"command":"`+name+`"}`)
			result(b, name, trace.ToolCompleted)
		}
	})
	without := func(drop func(trace.Payload) bool) (all []trace.Record) {
		for _, r := range s.Records {
			if !drop(r.Payload) {
				all = append(all, r)
			}
		}
		return all
	}
	var oneID []trace.Record
	for _, r := range s.Records {
		switch p := r.Payload.(type) {
		case trace.ToolCallStart:
			p.ToolCallID = "same"
			r.Payload = p
		case trace.ToolCall:
			p.ToolCallID = "same"
			r.Payload = p
		case trace.ToolResult:
			p.ToolCallID = "same"
			r.Payload = p
		}
		oneID = append(oneID, r)
	}
	const noRM, two = `{type: tools, not: true, calls: [{args: {command: rm}}]}`, `{type: budget, calls: 1}`
	full := func(p trace.Payload) bool { _, is := p.(trace.ToolCall); return is }
	start := func(p trace.Payload) bool { _, is := p.(trace.ToolCallStart); return is || full(p) }
	for name, c := range map[string]struct {
		records []trace.Record
		noRM    eval.Verdict
	}{
		"whole": {s.Records, eval.Failed}, "one id": {oneID, eval.Failed}, "only begun": {without(full), eval.Unclear}, "only results": {without(start), eval.Unclear},
	} {
		if f := verdict(t, noRM, c.records); f.Verdict != c.noRM {
			t.Errorf("%s: %+v", name, f)
		}
		if f := verdict(t, two, c.records); f.Verdict != eval.Failed || !strings.HasPrefix(f.Reason, "2 calls") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestErrorsOutsideTurns(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	s.Turn(t.Context(), "go", completed(), func(*trace.Builder) {})
	s.Add("", trace.Event{Actor: trace.Agent, Payload: trace.Notice("n", "it is slow")})
	expect(t, s, []expectation{{`{type: errors}`, eval.Passed, "stop", ""}})
	s.Add("", trace.Event{Actor: trace.Agent, Payload: trace.Error{Message: "the server is gone"}})
	expect(t, s, []expectation{{`{type: errors}`, eval.Failed, "error", "the server is gone"}})
}

// The last answer before the first effect counts.
func TestTheLastAnswerCounts(t *testing.T) {
	t.Parallel()
	change := func(b *trace.Builder) { b.Emit(trace.FileChange{Path: "a", Change: "created", ToolCallID: "c"}) }
	for name, c := range map[string]struct {
		do     func(b *trace.Builder)
		status trace.ToolStatus
		want   eval.Verdict
	}{
		"allowed, then denied":     {func(b *trace.Builder) { ask(b, "1", "c", "yes"); ask(b, "2", "c", "no") }, trace.ToolCompleted, eval.Failed},
		"denied, then allowed":     {func(b *trace.Builder) { ask(b, "1", "c", "no"); ask(b, "2", "c", "yes") }, trace.ToolCompleted, eval.Passed},
		"allowed, then unanswered": {func(b *trace.Builder) { ask(b, "1", "c", "yes"); ask(b, "2", "c", "") }, trace.ToolCompleted, eval.Passed},
		"unanswered, and failed":   {func(b *trace.Builder) { ask(b, "1", "c", "") }, trace.ToolFailed, eval.Unclear},
		"allowed, and failed":      {func(b *trace.Builder) { ask(b, "1", "c", "yes") }, trace.ToolFailed, eval.Passed},
		"a change before":          {func(b *trace.Builder) { change(b); ask(b, "1", "c", "yes") }, trace.ToolCompleted, eval.Failed},
		"a change behind":          {func(b *trace.Builder) { ask(b, "1", "c", "yes"); change(b) }, trace.ToolCompleted, eval.Passed},
		"a change, and denied":     {func(b *trace.Builder) { change(b); ask(b, "1", "c", "no") }, trace.ToolDenied, eval.Failed},
		"a change, and failed":     {func(b *trace.Builder) { change(b); ask(b, "1", "c", "") }, trace.ToolFailed, eval.Failed},
	} {
		s := exporttest.NewSession()
		s.Turn(t.Context(), "go", completed(), func(b *trace.Builder) {
			call(b, "c", trace.ToolEdit, "Edit", `{}`)
			c.do(b)
			result(b, "c", c.status)
		})
		if f := verdict(t, `{type: permission, before_effect: true}`, s.Records); f.Verdict != c.want {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// Of a trajectory that does not tell all, nothing passes that could fail.
func TestATrajectoryThatDoesNotTellAll(t *testing.T) {
	t.Parallel()
	trajectory := func(calls, rest string) []trace.Record {
		s := exporttest.NewSession()
		text := `{"schema_version":"ATIF-v1.7","session_id":"s","agent":{"name":"x","version":"1"},"steps":[{"source":"agent","message":"m","metrics":{"prompt_tokens":1,"completion_tokens":1},` + calls + `}]` + rest + `}`
		if err := atif.Read(t.Context(), strings.NewReader(text), func(r trace.Record) error { s.Records = append(s.Records, r); return nil }); err != nil {
			t.Fatal(err)
		}
		return s.Records
	}
	const rm = `{type: tools, not: true, calls: [{args: {command: rm}}]}`
	for _, c := range []struct {
		calls, rest, grader string
		want                eval.Verdict
	}{
		{`"tool_calls":[{"tool_call_id":"1","function_name":"a","arguments":{"command":"ls"}}]`, "", rm, eval.Passed},
		{`"tool_calls":[{"tool_call_id":"1","function_name":"a","arguments":{"command":"ls"}}],"observation":{"results":[{"source_call_id":"1","subagent_trajectory_ref":[{"trajectory_id":"T"}]}]}`, "", rm, eval.Unclear},
		{`"tool_calls":[{"tool_call_id":"1","function_name":"a","arguments":{"command":"ls"}}],"observation":{"results":[{"source_call_id":"1","subagent_trajectory_ref":[{"trajectory_id":"T"}]}]}`, "", `{type: budget, tokens: 9}`, eval.Unclear},
		{`"tool_calls":[{"tool_call_id":"1","function_name":"a","arguments":{}}]`, `,"extra":{"left_out":["tool-input"]}`, rm, eval.Unclear},
		{`"tool_calls":[{"tool_call_id":"1","function_name":"a","arguments":"{\"command\":\"rm\"}"}]`, "", rm, eval.Failed},
		{`"tool_calls":[{"tool_call_id":"1","function_name":"a","arguments":"{\"command\":\"ls\"}"}]`, "", rm, eval.Passed},
		{`"tool_calls":[{"tool_call_id":"1","function_name":"a","arguments":"rm"}]`, "", rm, eval.Unclear},
		{`"tool_calls":[{"tool_call_id":"1","function_name":"a","arguments":["rm"]}]`, "", rm, eval.Unclear},
		{`"tool_calls":[{"tool_call_id":"1","function_name":"a"}]`, "", rm, eval.Unclear},
		{`"tool_calls":[{"tool_call_id":"1","function_name":"a","arguments":{}}]`, "", `{type: tools, not: true, calls: [{status: completed}]}`, eval.Unclear},
	} {
		if f := verdict(t, c.grader, trajectory(c.calls, c.rest)); f.Verdict != c.want {
			t.Errorf("%s%s: %s: %+v", c.calls, c.rest, c.grader, f)
		}
	}
}

// Many listed calls against many calls take seconds at most.
func TestManyCalls(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	s.Turn(t.Context(), "go", completed(), func(b *trace.Builder) {
		for i := range 3000 {
			call(b, fmt.Sprint(i), trace.ToolRead, "Read", fmt.Sprintf(`{"file":"some/long/name/%d.md","more":{"list":[1,2,3]}}`, i))
		}
	})
	var list []string
	for i := range 500 {
		list = append(list, fmt.Sprintf(`{name: "R*d", args: {file: some/long/name/%d.md}}`, 2999-i))
	}
	begun := time.Now()
	for _, match := range []string{"any_order", "subset"} {
		f := verdict(t, `{type: tools, match: `+match+`, calls: [`+strings.Join(list, ", ")+`]}`, s.Records)
		if (f.Verdict == eval.Passed) != (match == "any_order") {
			t.Errorf("%s: %s", match, f.Verdict)
		}
	}
	same := strings.Repeat(`{kind: read}, `, 3000)
	if f := verdict(t, `{type: tools, calls: [`+same+`]}`, s.Records); f.Verdict != eval.Passed {
		t.Errorf("%s", f.Verdict)
	}
	if took := time.Since(begun); took > 20*time.Second { // two seconds, on a machine that does nothing else
		t.Errorf("it took %v", took)
	}
}

func TestPatternsOfNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, name string
		like          bool
	}{
		{"Read", "Read", true},
		{"Read", "Reader", false},
		{"*", "", true},
		{"R*", "Read", true},
		{"*d", "Read", true},
		{"R*d", "Read", true},
		{"R*d", "Rd", true},
		{"Re*ead", "Read", false},
		{"a*b*c", "aXbYc", true},
		{"a*b*c", "aXcYb", false},
		{"a*b*b", "ab", false},
		{"*.*", "a.b", true},
		{"a.b", "aXb", false},
		{"**", "x", true},
		{"a*a", "a", false},
		{"*b*", "abc", true},
	} {
		s := exporttest.NewSession()
		s.Turn(t.Context(), "go", completed(), func(b *trace.Builder) {
			b.Emit(trace.ToolCall{ToolCallID: "c", RawName: "x" + c.name, ToolKind: trace.ToolRead, Input: json.RawMessage(`{}`)})
		})
		if f := verdict(t, `{type: tools, calls: [{raw_name: "x`+c.pattern+`"}]}`, s.Records); (f.Verdict == eval.Passed) != c.like {
			t.Errorf("%q %q: %+v", c.pattern, c.name, f)
		}
	}
}
