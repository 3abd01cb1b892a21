package eval_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/export/exporttest"
	"github.com/tributary-dev/tributary/trace"
)

// shell is a call of a shell, which goes on from an earlier turn if one is given.
func shell(b *trace.Builder, input, continues string) {
	b.Emit(trace.ToolCall{ToolCallID: "c", RawName: "Bash", Name: "Bash", ToolKind: trace.ToolExecute, Input: json.RawMessage(`{"command":"` + input + `"}`), Continues: continues})
}

// What a later turn does with a call is a part of the call.
func TestACallThatGoesOn(t *testing.T) {
	t.Parallel()
	edit := func(b *trace.Builder) {
		ask(b, "r", "c", "")
		b.PermissionResponse(trace.PermissionResponse{RequestID: "r", Outcome: trace.Selected, ChosenOption: "yes", UpdatedInput: json.RawMessage(`{"command":"rm"}`)})
	}
	asks := func(option string) func(*trace.Builder) { return func(b *trace.Builder) { ask(b, "r", "c", option) } }
	nothing := func(*trace.Builder) {}
	changes := func(b *trace.Builder) { b.Emit(trace.FileChange{Path: "a", Change: "created", ToolCallID: "c"}) }
	const noRM, oneCall, early, must = `{type: tools, not: true, calls: [{args: {command: rm}}]}`, `{type: budget, calls: 1}`, `{type: permission, before_effect: true}`, `{type: permission, must_ask: true}`
	for name, c := range map[string]struct {
		first func(*trace.Builder)
		input string
		then  func(*trace.Builder)
		want  map[string]eval.Verdict
	}{
		"with another input": {nothing, "rm", nothing, map[string]eval.Verdict{noRM: eval.Failed, oneCall: eval.Passed}},
		"with the same":      {nothing, "ls", nothing, map[string]eval.Verdict{noRM: eval.Passed, oneCall: eval.Passed, early: eval.Unclear, must: eval.Failed}},
		"edited":             {nothing, "ls", edit, map[string]eval.Verdict{noRM: eval.Failed, early: eval.Passed}},
		"asked later":        {nothing, "ls", asks("yes"), map[string]eval.Verdict{early: eval.Passed, must: eval.Passed, `{type: permission, asked: 1, allowed: 1}`: eval.Passed}},
		"denied later":       {asks("yes"), "ls", asks("no"), map[string]eval.Verdict{early: eval.Failed, must: eval.Failed, `{type: permission, asked: 2, allowed: 1, denied: 1}`: eval.Passed}},
		"allowed later":      {asks("no"), "ls", asks("yes"), map[string]eval.Verdict{early: eval.Passed}},
		"changed before":     {changes, "ls", asks("yes"), map[string]eval.Verdict{early: eval.Failed}},
		"changed behind":     {nothing, "ls", func(b *trace.Builder) { ask(b, "r", "c", "yes"); changes(b) }, map[string]eval.Verdict{early: eval.Passed}},
	} {
		s := exporttest.NewSession()
		first := s.Turn(t.Context(), "go", completed(), func(b *trace.Builder) {
			shell(b, "ls", "")
			c.first(b)
			result(b, "c", trace.ToolCanceled)
		})
		begun := len(s.Records)
		second := s.Turn(t.Context(), "on", completed(), func(b *trace.Builder) {
			shell(b, c.input, first)
			c.then(b)
		})
		s.Turn(t.Context(), "on", completed(), func(b *trace.Builder) {
			shell(b, c.input, second)
			result(b, "c", trace.ToolCompleted)
		})
		for grader, want := range c.want {
			if r := parse(t, grader).Grade(t.Context(), read(t, s.Records), eval.Means{}); r.Graders[0].Verdict != want {
				t.Errorf("%s: %s: %+v", name, grader, r.Graders[0])
			}
		}
		// The beginning is cut off, or has no end: the call is there all the same.
		unended := slices.Clone(s.Records[:begun-1])
		for _, rest := range [][]trace.Record{s.Records[begun:], slices.Concat(unended, s.Records[begun:])} {
			for _, grader := range []string{`{type: budget, calls: 0}`, `{type: tools, not: true, calls: [{kind: execute}]}`} {
				if r := parse(t, grader).Grade(t.Context(), read(t, rest), eval.Means{}); r.Graders[0].Verdict != eval.Failed {
					t.Errorf("%s, cut: %s: %+v", name, grader, r.Graders[0])
				}
			}
			if r := parse(t, `{type: tools, match: any_order, calls: [{kind: execute, status: completed}]}`).Grade(t.Context(), read(t, rest), eval.Means{}); r.Graders[0].Verdict != eval.Passed {
				t.Errorf("%s, cut: %+v", name, r.Graders[0])
			}
		}
	}
}

// A turn that has not ended is left out, and what could be otherwise because of it is unknown.
func TestATurnThatHasNotEnded(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	s.Turn(t.Context(), "go", completed(), func(b *trace.Builder) {
		call(b, "c", trace.ToolRead, "Read", `{}`)
		result(b, "c", trace.ToolCompleted)
		b.Message("m", "done")
		b.Emit(trace.Usage{Scope: trace.UsageTurn, InputTokens: 5, OutputTokens: 1})
	})
	s.Turn(t.Context(), "more", completed(), func(b *trace.Builder) { b.Message("m", "well") })
	ended, open := s.Records, s.Records[:len(s.Records)-1]
	for grader, want := range map[string]eval.Verdict{
		`{type: tools, not: true, calls: [{kind: delete}]}`:     eval.Unclear,
		`{type: tools, match: exact, calls: [{kind: read}]}`:    eval.Unclear,
		`{type: tools, match: subset, calls: [{kind: read}]}`:   eval.Unclear,
		`{type: tools, calls: [{kind: read}]}`:                  eval.Passed,
		`{type: tools, match: in_order, calls: [{kind: read}]}`: eval.Passed,
		`{type: tools, not: true, calls: [{kind: read}]}`:       eval.Failed,
		`{type: errors}`:                                         eval.Unclear,
		`{type: question, asked: 0}`:                             eval.Unclear,
		`{type: permission, kind: execute, asked: 0}`:            eval.Unclear,
		`{type: permission, kind: execute, before_effect: true}`: eval.Unclear,
		`{type: budget, calls: 1}`:                               eval.Unclear,
		`{type: budget, calls: 0}`:                               eval.Failed,
		`{type: outcome, completed: true}`:                       eval.Unclear,
		`{type: outcome, reason: end_turn}`:                      eval.Passed,
		`{type: output, contains: done}`:                         eval.Passed,
	} {
		f := parse(t, grader).Grade(t.Context(), read(t, open), eval.Means{}).Graders[0]
		if f.Verdict != want || want == eval.Unclear && !strings.HasSuffix(f.Reason, "; 1 turn that has not ended is left out") {
			t.Errorf("%s: %+v", grader, f)
		}
		if f := parse(t, grader).Grade(t.Context(), read(t, ended), eval.Means{}).Graders[0]; want == eval.Unclear && f.Verdict == eval.Unclear {
			t.Errorf("%s of ended turns: %+v", grader, f)
		}
	}
	if f := parse(t, `{type: errors}`).Grade(t.Context(), read(t, open), eval.Means{}).Graders[0]; f.Reason != "nothing went wrong; 1 turn that has not ended is left out" {
		t.Error(f.Reason)
	}
}
