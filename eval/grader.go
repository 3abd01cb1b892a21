package eval

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// Verdict is what a grader says, or what the graders of a case say together.
type Verdict string

// The verdicts.
const (
	Passed  Verdict = "pass"
	Failed  Verdict = "fail"
	Unclear Verdict = "unknown" // of a grader: the trace cannot tell
	Skipped Verdict = "skipped" // there was nothing to judge, such as no workspace
	Errored Verdict = "error"   // of a case: something other than the agent's own work failed
)

// Finding is what a grader says.
type Finding struct {
	// Grader is the name of the grader, or its type.
	Grader   string  `json:"grader"`
	Type     string  `json:"type"`
	Verdict  Verdict `json:"verdict"`
	Required bool    `json:"required"`
	// Decided says that the finding makes the session fail.
	Decided bool `json:"decided,omitempty"`
	// Score is from 0 to 1; nil for a grader that gives none.
	Score *float64 `json:"score,omitempty"`
	// Reason is a sentence.
	Reason string `json:"reason"`
	// Evidence are the ids of the records that show it. What did not happen is shown by the
	// records that end the turns.
	Evidence []string `json:"evidence"`
}

// Result is what the graders of a case say of a session.
type Result struct {
	Case    string  `json:"case"`
	Session string  `json:"session"`
	Verdict Verdict `json:"verdict"`
	// Reason is that of the first finding that decided, or what failed; empty for Passed.
	Reason   string          `json:"reason,omitempty"`
	Evidence []string        `json:"evidence,omitempty"` // of an error
	Agent    trace.AgentInfo `json:"agent"`
	Seconds  float64         `json:"seconds"`
	Graders  []Finding       `json:"graders,omitempty"`
	// Judge is what the judges of the case took; nil if none was asked.
	Judge *JudgeUse `json:"judge,omitempty"`
}

// Grader is a grader of a case.
type Grader struct {
	common

	check check
}

// common are the keys of all graders.
type common struct {
	Type string `yaml:"type"`
	// Name is what results call the grader; empty is its type.
	Name string `yaml:"name"`
	// Required is true unless it says otherwise.
	Required *bool `yaml:"required"`
}

// check is one type of grader.
type check interface {
	fault() *fault
	grade(ctx context.Context, s *Session, m Means) judgement
}

// judgement is a finding before it has the grader's name.
type judgement struct {
	verdict  Verdict
	reason   string
	evidence []string
	score    *float64 // nil for none
	use      JudgeUse
}

// Means are what graders may use beside the trace. Graders that need what is nil are skipped.
type Means struct {
	Workspace Workspace
	Judge     Judge

	judge *JudgeModel // of the case
}

// Types are the types of graders.
func Types() []string {
	return []string{"output", "tools", "permission", "question", "outcome", "errors", "budget", "file", "diff", "command", "judge"}
}

// newCheck is an empty grader of the type, nil for no type.
func newCheck(name string) check {
	return map[string]check{
		"output": &output{}, "tools": &tools{}, "permission": &permissions{}, "question": &question{}, "outcome": &outcome{}, "errors": &noErrors{},
		"budget": &budget{}, "file": &file{}, "diff": &diff{}, "command": &command{}, "judge": &judge{},
	}[name]
}

// Grade judges a session.
func (c *Case) Grade(ctx context.Context, s *Session, m Means) Result {
	m.judge = c.Judge
	r := Result{Case: c.Name, Session: s.ID, Agent: s.Agent, Seconds: s.seconds()}
	r.Agent.Tools = nil // a result is one line
	if len(s.Turns) == 0 {
		r.Verdict, r.Reason = Errored, "there is nothing to judge: no turn of the session has ended"
		return r
	}
	for _, t := range s.kept() {
		if t.Stop.Infrastructure() {
			r.Verdict, r.Evidence = Errored, []string{t.StopRecord}
			r.Reason = fmt.Sprintf("not the agent's work failed, but the way to it or to its model: %s", cmp.Or(quoted(t.Stop.Error), quoted(t.Stop.Reason)))
			return r
		}
	}
	gaps := s.gaps()
	for _, g := range c.Graders {
		j := judgement{verdict: Skipped, reason: "it needs the workspace after the run, and this session has none"}
		if m.Workspace != nil || !ofWorkspace(g.check) {
			j = g.check.grade(ctx, s, m)
		}
		if gaps != "" && mayChange(g.check) {
			if j.reason += "; " + gaps; j.verdict == Passed {
				j.verdict = Unclear
			}
		}
		f := Finding{Grader: cmp.Or(g.Name, g.Type), Type: g.Type, Verdict: j.verdict, Required: g.Required == nil || *g.Required, Score: j.score, Reason: j.reason}
		f.Evidence = once(j.evidence)
		f.Decided = f.Required && (f.Verdict == Failed || f.Verdict == Unclear && c.Unknown != UnknownSkips)
		r.Graders = append(r.Graders, f)
		if j.use.Calls+j.use.Cached > 0 {
			if r.Judge == nil {
				r.Judge = &JudgeUse{}
			}
			r.Judge.Add(j.use)
		}
	}
	r.conclude()
	return r
}

// ofWorkspace reports whether a grader judges the workspace.
func ofWorkspace(c check) bool {
	switch c.(type) {
	case *file, *diff, *command:
		return true
	}
	return false
}

// mayChange reports whether what is left out of a session could make a failure of a pass.
func mayChange(c check) bool {
	switch c := c.(type) {
	case *tools:
		return c.Not || c.Match == MatchExact || c.Match == MatchSubset
	case *question:
		return c.Asked != nil
	case *outcome:
		return c.Completed != nil && *c.Completed
	case *permissions, *noErrors, *budget:
		return true
	}
	return false
}

// conclude makes the verdict of the graders' findings.
func (r *Result) conclude() {
	if deciding := r.deciding(); len(deciding) > 0 {
		r.Verdict, r.Reason = Failed, deciding[0].Grader+": "+deciding[0].Reason
		return
	}
	r.Verdict, r.Reason = Skipped, "no grader that is required could judge the session"
	for _, f := range r.Graders {
		if f.Required && f.Verdict == Passed {
			r.Verdict, r.Reason = Passed, ""
		}
	}
}

// deciding are the findings that make the session fail.
func (r *Result) deciding() (all []Finding) {
	for _, f := range r.Graders {
		if f.Decided {
			all = append(all, f)
		}
	}
	return all
}

// once has each id once, in the order of the first; never nil.
func once(ids []string) []string {
	all := []string{}
	seen := map[string]bool{}
	for _, id := range ids {
		if !seen[id] {
			all = append(all, id)
		}
		seen[id] = true
	}
	return all
}

func passIf(ok bool, evidence []string, format string, args ...any) judgement {
	v := Failed
	if ok {
		v = Passed
	}
	return judgement{verdict: v, reason: fmt.Sprintf(format, args...), evidence: evidence}
}

func unclear(evidence []string, format string, args ...any) judgement {
	return judgement{verdict: Unclear, reason: fmt.Sprintf(format, args...), evidence: evidence}
}

// all is the worst of several judgements: a failure, then what is unknown. Its reason is that of
// all that are as bad, and its evidence too.
func all(each []judgement) judgement {
	order := []Verdict{Failed, Unclear, Skipped, Passed}
	worst := slices.MinFunc(each, func(a, b judgement) int {
		return cmp.Compare(slices.Index(order, a.verdict), slices.Index(order, b.verdict))
	}).verdict
	j := judgement{verdict: worst}
	for _, one := range each {
		if one.verdict != worst {
			continue
		}
		if j.reason != "" {
			j.reason += "; "
		}
		j.reason += one.reason
		j.evidence = append(j.evidence, one.evidence...)
	}
	return j
}

// none reports whether no key of a grader is set.
func none(v any) bool { return reflect.ValueOf(v).Elem().IsZero() }

// times says how often.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// Counted is a number and what it counts, such as 2 calls.
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func calls(n int) string { return Counted(n, "call") }

// quoted is the beginning of a text in quotation marks, empty for none.
func quoted(text string) string {
	const longest = 80
	if text == "" {
		return ""
	}
	if runes := []rune(text); len(runes) > longest {
		return fmt.Sprintf("%q", string(runes[:longest])+"…")
	}
	return fmt.Sprintf("%q", text)
}
