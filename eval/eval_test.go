package eval_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/export/exporttest"
	"github.com/tributary-dev/tributary/trace"
)

// parse reads a case with one grader, or with several in a list.
func parse(t testing.TB, graders string) *eval.Case {
	t.Helper()
	if !strings.HasPrefix(graders, "-") {
		graders = "- " + graders
	}
	c, _, err := eval.Parse("case.yaml", []byte("name: one\ngraders:\n"+graders+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func read(t testing.TB, records []trace.Record) *eval.Session {
	t.Helper()
	s, err := eval.Read(exporttest.Durable(records))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// kinds are those of the records that a finding names. It fails if one is not there.
func kinds(t testing.TB, records []trace.Record, ids []string) string {
	t.Helper()
	var all []string
	for _, id := range ids {
		i := slices.IndexFunc(records, func(r trace.Record) bool { return r.ID == id })
		if i < 0 {
			t.Fatalf("there is no record %s", id)
		}
		all = append(all, string(records[i].Payload.Kind()))
	}
	return strings.Join(all, " ")
}

// expectation is what a grader must find. The evidence is the kinds of the records.
type expectation struct {
	grader   string
	verdict  eval.Verdict
	evidence string
	reason   string // a part of it
}

func expect(t *testing.T, s *exporttest.Session, each []expectation) {
	t.Helper()
	for _, want := range each {
		r := parse(t, want.grader).Grade(t.Context(), read(t, s.Records), eval.Means{})
		if len(r.Graders) != 1 {
			t.Fatalf("%s: %+v", want.grader, r)
		}
		f := r.Graders[0]
		if got := kinds(t, s.Records, f.Evidence); f.Verdict != want.verdict || got != want.evidence || !strings.Contains(f.Reason, want.reason) || f.Reason == "" {
			t.Errorf("%s\n\tis %s (%s), by %q\n\tnot %s (%s), by %q", want.grader, f.Verdict, f.Reason, got, want.verdict, want.reason, want.evidence)
		}
		if (r.Verdict == eval.Passed) != (f.Verdict == eval.Passed) {
			t.Errorf("%s: the case is %s", want.grader, r.Verdict)
		}
	}
}

func completed() trace.Stop { return trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted} }

func call(b *trace.Builder, id string, kind trace.ToolKind, name, input string) {
	b.Emit(trace.ToolCall{ToolCallID: id, RawName: "raw_" + name, Name: name, ToolKind: kind, Input: json.RawMessage(input)})
}

func result(b *trace.Builder, id string, status trace.ToolStatus) {
	b.Emit(trace.ToolResult{ToolCallID: id, Status: status, Output: json.RawMessage(`"out"`)})
}

// ask asks for a call, and answers; an empty option is no answer.
func ask(b *trace.Builder, request, of, option string) {
	id, _, _ := b.PermissionRequest(trace.PermissionRequest{RequestID: request, ToolCallID: of, Title: "may I", Options: []trace.PermissionOption{
		{ID: "yes", Name: "Yes", OptionKind: trace.AllowOnce}, {ID: "no", Name: "No", OptionKind: trace.RejectOnce},
	}}, trace.ToolCall{})
	if option != "" {
		b.PermissionResponse(trace.PermissionResponse{RequestID: id, Outcome: trace.Selected, ChosenOption: option, By: "ann"})
	}
}

// work is a session in which an agent reads a file, and asks for two commands of which one is denied.
func work(t testing.TB) *exporttest.Session {
	s := exporttest.NewSession()
	s.Add("", trace.Event{Actor: trace.Agent, Payload: trace.AgentInfo{Name: "fixer", Adapter: "demo", Version: "1.2", Tools: []trace.ToolDefinition{{Name: "Read"}}}.Payload()})
	s.Turn(t.Context(), "both", completed(), func(b *trace.Builder) {
		b.StepStart(trace.Step{})
		call(b, "c1", trace.ToolRead, "Read", `{"file":"a.md","lines":{"from":3,"to":5}}`)
		result(b, "c1", trace.ToolCompleted)
		b.Emit(trace.Usage{Scope: trace.UsageStep, InputTokens: 100, OutputTokens: 20, CostUSD: new(0.01)})
		b.StepEnd()
		b.StepStart(trace.Step{})
		call(b, "c2", trace.ToolExecute, "Bash", `{"command":"echo one"}`)
		ask(b, "r2", "c2", "no")
		result(b, "c2", trace.ToolDenied)
		call(b, "c3", trace.ToolExecute, "Bash", `{"command":"echo two"}`)
		ask(b, "r3", "c3", "yes")
		result(b, "c3", trace.ToolCompleted)
		q := b.Question(trace.Question{QuestionID: "q", Text: "Which colour is it?"})
		b.Answer(trace.Answer{QuestionID: q, Outcome: trace.Selected, Values: []string{"green"}, By: "ann"})
		b.Emit(trace.Notice("retry", "The model is slow."))
		b.Message("m", "Allowed to run: echo two\n")
		b.MessageEnd("m")
		b.Emit(trace.Usage{Scope: trace.UsageStep, InputTokens: 200, OutputTokens: 30, CostUSD: new(0.02)})
		b.StepEnd()
	})
	return s
}

func TestOutput(t *testing.T) {
	t.Parallel()
	expect(t, work(t), []expectation{
		{`{type: output, equals: "Allowed to run: echo two"}`, eval.Passed, "stop", "as it should"},
		{`{type: output, equals: "Allowed to run"}`, eval.Failed, "stop", "is not"},
		{`{type: output, contains: run}`, eval.Passed, "stop", ""},
		{`{type: output, contains: allowed}`, eval.Failed, "stop", `it begins with "Allowed`},
		{`{type: output, icontains: aLLowed}`, eval.Passed, "stop", ""},
		{`{type: output, icontains: denied}`, eval.Failed, "stop", ""},
		{`{type: output, not_contains: denied}`, eval.Passed, "stop", ""},
		{`{type: output, not_contains: echo}`, eval.Failed, "stop", `has "echo"`},
		{`{type: output, regex: "echo (two|three)"}`, eval.Passed, "stop", ""},
		{`{type: output, regex: "^echo"}`, eval.Failed, "stop", ""},
		{`{type: output, contains: run, not_contains: echo}`, eval.Failed, "stop", ""},
	})
	s := exporttest.NewSession()
	s.Turn(t.Context(), "hi", completed(), func(*trace.Builder) {})
	expect(t, s, []expectation{{`{type: output, contains: x}`, eval.Failed, "stop", "but empty"}, {`{type: output, not_contains: x}`, eval.Passed, "stop", ""}})
	s.Add("", trace.Event{Actor: trace.Gateway, Payload: trace.Rewind{To: "u1"}})
	expect(t, s, []expectation{
		{`{type: output, not_contains: x}`, eval.Unclear, "stop", "edit has removed"},
		{`{type: outcome, completed: true}`, eval.Unclear, "stop", "edit has removed"},
	})
}

func TestTools(t *testing.T) {
	t.Parallel()
	s := work(t)
	const look, one, two = `{kind: read}`, `{kind: execute, args: {command: "echo one"}, status: denied}`, `{kind: execute, args: {command: "echo two"}, status: completed}`
	for match, lists := range map[string]map[string]bool{
		"exact":     {look + one + two: true, look + one: false, one + two: false, one + look + two: false, look + one + two + two: false},
		"in_order":  {look + one + two: true, look + two: true, two + one: false, two + two: false},
		"any_order": {two + look: true, two + two: false, two + `{kind: delete}`: false, `{kind: execute}` + one: true, one + `{kind: execute}`: true, `{kind: execute}{kind: execute}{kind: execute}`: false},
		"subset":    {look + one + two + `{kind: delete}`: true, look + `{kind: execute}`: true, look + one: false},
	} {
		for list, passes := range lists {
			for _, g := range []string{
				fmt.Sprintf("{type: tools, match: %s, calls: [%s]}", match, strings.ReplaceAll(list, "}{", "},{")),
				fmt.Sprintf("{type: tools, calls: [%s]}", strings.ReplaceAll(list, "}{", "},{")),
			} {
				f := parse(t, g).Grade(t.Context(), read(t, s.Records), eval.Means{}).Graders[0]
				if match != "any_order" && !strings.Contains(g, "match") {
					continue // the default is that one
				}
				if (f.Verdict == eval.Passed) != passes || f.Verdict == eval.Unclear || kinds(t, s.Records, f.Evidence) == "" {
					t.Errorf("%s: %+v", g, f)
				}
			}
		}
	}
	expect(t, s, []expectation{
		{`{type: tools, not: true, calls: [{kind: delete}, {kind: edit}]}`, eval.Passed, "stop", "0 of 3 calls"},
		{`{type: tools, not: true, calls: [{kind: delete}, {kind: execute}]}`, eval.Failed, "tool_call tool_call", "2 of 3 calls"},
		{`{type: tools, not: true, calls: [{kind: delete}, {kind: read}]}`, eval.Failed, "tool_call", "1 of 3 calls"},
		{`{type: tools, calls: [{name: "R*d"}]}`, eval.Passed, "tool_call", ""},
		{`{type: tools, calls: [{name: "R*x"}]}`, eval.Failed, "stop", "calls[0]"},
		{`{type: tools, calls: [{raw_name: "raw_Read"}]}`, eval.Passed, "tool_call", ""},
		{`{type: tools, calls: [{raw_name: "Read"}]}`, eval.Failed, "stop", ""},
		{`{type: tools, calls: [{status: failed}]}`, eval.Failed, "stop", ""},
		{`{type: tools, calls: [{args: {lines: {from: 3}}}]}`, eval.Passed, "tool_call", ""},
		{`{type: tools, calls: [{args: {lines: {from: 4}}}]}`, eval.Failed, "stop", ""},
		{`{type: tools, calls: [{args: {file: a.md, mode: x}}]}`, eval.Failed, "stop", ""},
		{`{type: tools, match: in_order, calls: [{kind: execute}, {kind: read}]}`, eval.Failed, "tool_call", "calls[1]"},
		{`{type: tools, match: subset, calls: [{kind: read}]}`, eval.Failed, "tool_call tool_call", ""},
	})
}

// What a call of the kind other does, and what its broken input was, nobody knows.
func TestToolsThatNobodyKnows(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	s.Turn(t.Context(), "go", completed(), func(b *trace.Builder) {
		call(b, "c1", trace.ToolOther, "mcp", `{"a":1}`)
		result(b, "c1", trace.ToolCompleted)
		b.Emit(trace.ToolCall{ToolCallID: "c2", RawName: "Read", Name: "Read", ToolKind: trace.ToolRead, Input: json.RawMessage(`{}`), InputText: `{"file":"a`})
		result(b, "c2", trace.ToolCanceled)
	})
	expect(t, s, []expectation{
		{`{type: tools, not: true, calls: [{kind: delete}]}`, eval.Unclear, "tool_call", "does not tell enough"},
		{`{type: tools, calls: [{kind: edit}]}`, eval.Unclear, "tool_call", ""},
		{`{type: tools, calls: [{kind: edit}, {kind: edit}]}`, eval.Failed, "stop", ""},
		{`{type: tools, calls: [{kind: other}]}`, eval.Passed, "tool_call", ""},
		{`{type: tools, calls: [{kind: read}]}`, eval.Passed, "tool_call", ""},
		{`{type: tools, calls: [{kind: edit, name: Edit}]}`, eval.Failed, "stop", ""},
		{`{type: tools, match: subset, calls: [{kind: read}]}`, eval.Unclear, "tool_call", ""},
		{`{type: tools, calls: [{name: Read, args: {file: a.md}}]}`, eval.Unclear, "tool_call", ""},
		{`{type: permission, kind: execute, before_effect: true}`, eval.Unclear, "tool_call", "mcp"},
		{`{type: permission, kind: execute, must_ask: true}`, eval.Unclear, "tool_call", ""},
	})
}

func TestPermission(t *testing.T) {
	t.Parallel()
	s := work(t)
	expect(t, s, []expectation{
		{`{type: permission, asked: 2, denied: 1, allowed: 1}`, eval.Passed, "permission_request permission_request permission_response permission_response", ""},
		{`{type: permission, kind: execute, asked: 2}`, eval.Passed, "permission_request permission_request", "asked 2 times"},
		{`{type: permission, kind: execute, asked: 1}`, eval.Failed, "permission_request permission_request", "not once"},
		{`{type: permission, kind: read, asked: 0}`, eval.Passed, "stop", ""},
		{`{type: permission, kind: read, asked: 1}`, eval.Failed, "stop", ""},
		{`{type: permission, tool: "raw_B*", asked: 2}`, eval.Passed, "permission_request permission_request", ""},
		{`{type: permission, tool: Bash, asked: 2}`, eval.Failed, "stop", ""},
		{`{type: permission, denied: 2}`, eval.Failed, "permission_response", "was denied once"},
		{`{type: permission, allowed: 0}`, eval.Failed, "permission_response", ""},
		{`{type: permission, kind: execute, before_effect: true}`, eval.Passed, "permission_response", "before it ran"},
		{`{type: permission, kind: execute, must_ask: true}`, eval.Passed, "permission_response", ""},
		{`{type: permission, kind: delete, must_ask: true}`, eval.Passed, "stop", "no such call ran"},
		{`{type: permission, before_effect: true}`, eval.Unclear, "tool_call", "Read"},
		{`{type: permission, must_ask: true}`, eval.Failed, "tool_call", "Read"},
	})
}

func TestPermissionOutOfOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what    string
		do      func(*trace.Builder)
		verdict eval.Verdict
	}{
		{"denied, and ran", func(b *trace.Builder) { ask(b, "r", "c", "no"); result(b, "c", trace.ToolCompleted) }, eval.Failed},
		{"ran, then asked", func(b *trace.Builder) { result(b, "c", trace.ToolCompleted); ask(b, "r", "c", "yes") }, eval.Failed},
		{"asked twice, allowed at last", func(b *trace.Builder) {
			ask(b, "r", "c", "no")
			ask(b, "s", "c", "yes")
			result(b, "c", trace.ToolCompleted)
		}, eval.Passed},
		{"denied, and failed", func(b *trace.Builder) { ask(b, "r", "c", "no"); result(b, "c", trace.ToolFailed) }, eval.Passed},
		{"never asked, and failed", func(b *trace.Builder) { result(b, "c", trace.ToolFailed) }, eval.Unclear},
		{"never asked, and canceled", func(b *trace.Builder) { result(b, "c", trace.ToolCanceled) }, eval.Passed},
	} {
		s := exporttest.NewSession()
		s.Turn(t.Context(), "go", completed(), func(b *trace.Builder) {
			call(b, "c", trace.ToolExecute, "Bash", `{}`)
			c.do(b)
		})
		if r := parse(t, "{type: permission, must_ask: true}").Grade(t.Context(), read(t, s.Records), eval.Means{}); r.Graders[0].Verdict != c.verdict {
			t.Errorf("%s: %+v", c.what, r.Graders[0])
		}
	}
	s := exporttest.NewSession()
	s.Turn(t.Context(), "go", completed(), func(b *trace.Builder) {
		call(b, "c", trace.ToolExecute, "Bash", `{}`)
		ask(b, "r", "c", "yes")
	})
	for i, r := range s.Records { // as an option of the agent's own: nobody knows what it means
		if p, is := r.Payload.(trace.PermissionResponse); is {
			p.OptionKind = ""
			s.Records[i].Payload = p
		}
	}
	expect(t, s, []expectation{
		{`{type: permission, asked: 1}`, eval.Passed, "permission_request", ""},
		{`{type: permission, denied: 0}`, eval.Unclear, "permission_response", "between 0 and 1"},
		{`{type: permission, denied: 2}`, eval.Failed, "permission_response", ""},
	})
}

func TestQuestionOutcomeAndErrors(t *testing.T) {
	t.Parallel()
	expect(t, work(t), []expectation{
		{`{type: question}`, eval.Passed, "question", ""},
		{`{type: question, asked: 1, matches: "Which colour"}`, eval.Passed, "question", ""},
		{`{type: question, asked: 0}`, eval.Failed, "question", ""},
		{`{type: question, asked: 2}`, eval.Failed, "question", "not 2 times"},
		{`{type: question, matches: "size"}`, eval.Failed, "stop", ""},
		{`{type: question, asked: 0, matches: "size"}`, eval.Passed, "stop", ""},
		{`{type: outcome, completed: true}`, eval.Passed, "stop", ""},
		{`{type: outcome, completed: false}`, eval.Failed, "stop", ""},
		{`{type: outcome, reason: end_turn}`, eval.Passed, "stop", ""},
		{`{type: outcome, completed: true, reason: max_tokens}`, eval.Failed, "stop", "end_turn"},
		{`{type: errors}`, eval.Passed, "stop", ""},
	})
	s := work(t)
	s.Turn(t.Context(), "more", trace.Stop{Reason: "max_turns", Outcome: trace.OutcomeFailed, Class: trace.ClassLimit, Error: "Too many steps."}, func(b *trace.Builder) {
		b.Emit(trace.Error{Message: "The tool broke.", Code: "x"})
	})
	expect(t, s, []expectation{
		{`{type: outcome, completed: true}`, eval.Failed, "stop", "max_turns"},
		{`{type: outcome, completed: false}`, eval.Passed, "stop", ""},
		{`{type: errors}`, eval.Failed, "error stop", `first "The tool broke."`},
	})
}

func TestBudget(t *testing.T) {
	t.Parallel()
	s := work(t)
	expect(t, s, []expectation{
		{`{type: budget, tokens: 350}`, eval.Passed, "usage usage", "350 tokens, and 350 are allowed"},
		{`{type: budget, tokens: 349}`, eval.Failed, "usage usage", ""},
		{`{type: budget, cost_usd: 0.03}`, eval.Passed, "usage usage", "0.03 US dollars"},
		{`{type: budget, cost_usd: 0.029}`, eval.Failed, "usage usage", ""},
		{`{type: budget, steps: 4}`, eval.Passed, "step step step step", ""},
		{`{type: budget, steps: 2}`, eval.Unclear, "step step step step", "perhaps more"}, // a person was asked amid the second
		{`{type: budget, steps: 1}`, eval.Failed, "step step step step", ""},
		{`{type: budget, calls: 3}`, eval.Passed, "tool_call tool_call tool_call", ""},
		{`{type: budget, calls: 2}`, eval.Failed, "tool_call tool_call tool_call", ""},
		{`{type: budget, tool_errors: 0}`, eval.Passed, "stop", ""},
		{`{type: budget, seconds: 1}`, eval.Passed, "stop", ""},
		{`{type: budget, seconds: 0.001}`, eval.Failed, "stop", ""},
		{`{type: budget, waiting_seconds: 1}`, eval.Passed, "permission_request permission_request question", ""},
		{`{type: budget, waiting_seconds: 0.001}`, eval.Failed, "permission_request permission_request question", ""},
		{`{type: budget, tokens: 1, steps: 4, calls: 1}`, eval.Failed, "usage usage tool_call tool_call tool_call", "tokens, and 1 are allowed; 3 calls"},
	})
	s.Turn(t.Context(), "more", completed(), func(b *trace.Builder) { // an agent that counts nothing
		call(b, "c9", trace.ToolRead, "Read", `{}`)
		result(b, "c9", trace.ToolFailed)
		b.Message("n", "done")
		b.MessageEnd("n")
	})
	expect(t, s, []expectation{
		{`{type: budget, tokens: 1000}`, eval.Unclear, "usage usage", "does not tell of all"},
		{`{type: budget, tokens: 349}`, eval.Failed, "usage usage", ""},
		{`{type: budget, cost_usd: 1}`, eval.Unclear, "usage usage", ""},
		{`{type: budget, tool_errors: 0}`, eval.Failed, "tool_result", "1 failed calls"},
	})
	s = exporttest.NewSession()
	s.Turn(t.Context(), "hi", completed(), func(b *trace.Builder) { b.Message("n", "done"); b.MessageEnd("n") })
	expect(t, s, []expectation{{`{type: budget, tokens: 0}`, eval.Unclear, "stop", "does not tell of tokens"}})
	s = exporttest.NewSession() // the sub-agent's tokens are not known
	s.Turn(t.Context(), "hi", completed(), func(b *trace.Builder) {
		b.StepStart(trace.Step{})
		call(b, "c", trace.ToolThink, "Task", `{}`)
		b.Under("c").Message("m", "sub")
		b.Under("c").MessageEnd("m")
		result(b, "c", trace.ToolCompleted)
		b.Emit(trace.Usage{Scope: trace.UsageStep, InputTokens: 10, OutputTokens: 1})
		b.StepEnd()
	})
	expect(t, s, []expectation{{`{type: budget, tokens: 99}`, eval.Unclear, "usage", "of all"}, {`{type: budget, steps: 1}`, eval.Passed, "step", ""}})
}

func TestVerdictsOfCases(t *testing.T) {
	t.Parallel()
	s := work(t)
	const pass, fail, unknown, file = "- {type: question}\n", "- {type: question, asked: 9}\n", "- {type: permission, before_effect: true}\n", "- {type: file, path: a.md}\n"
	for _, c := range []struct {
		graders string
		verdict eval.Verdict
		reason  string
	}{
		{pass + file, eval.Passed, ""},
		{pass + fail, eval.Failed, "question: the agent asked once"},
		{pass + "- {type: question, asked: 9, required: false}", eval.Passed, ""},
		{pass + unknown, eval.Failed, "permission: no request on record allows 1 call"},
		{"- {type: permission, before_effect: true, name: asks first}\n" + fail, eval.Failed, "asks first: "},
		{unknown + pass + "unknown: skip", eval.Passed, ""},
		{unknown + "unknown: skip", eval.Skipped, "no grader that is required"},
		{unknown + fail + "unknown: skip", eval.Failed, "question"},
		{file, eval.Skipped, "no grader that is required"},
		{"- {type: question, required: false}", eval.Skipped, ""},
	} {
		r := parse(t, c.graders).Grade(t.Context(), read(t, s.Records), eval.Means{})
		if r.Verdict != c.verdict || !strings.HasPrefix(r.Reason, c.reason) || (r.Reason == "") != (r.Verdict == eval.Passed) || r.Case != "one" || r.Session != "session" || r.Agent.Version != "1.2" || r.Agent.Tools != nil || r.Seconds == 0 {
			t.Errorf("%s: %+v", c.graders, r)
		}
	}
	if r := parse(t, pass).Grade(t.Context(), read(t, s.Records[:len(s.Records)-1]), eval.Means{}); r.Verdict != eval.Errored || !strings.Contains(r.Reason, "no turn of the session has ended") {
		t.Errorf("without an end: %+v", r)
	}
	s.Turn(t.Context(), "more", trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Class: trace.ClassRateLimit, Error: "429"}, func(*trace.Builder) {})
	r := parse(t, fail).Grade(t.Context(), read(t, s.Records), eval.Means{})
	if r.Verdict != eval.Errored || !strings.Contains(r.Reason, `"429"`) || kinds(t, s.Records, r.Evidence) != "stop" || r.Graders != nil {
		t.Errorf("infrastructure: %+v", r)
	}
	s.Add("", trace.Event{Actor: trace.Gateway, Payload: trace.Rewind{To: "u2"}})
	if r := parse(t, pass).Grade(t.Context(), read(t, s.Records), eval.Means{}); r.Verdict != eval.Passed {
		t.Errorf("tried again: %+v", r)
	}
}
