package run_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/eval/run"
	"github.com/tributary-dev/tributary/trace"
)

func usage(scope trace.UsageScope, tokens int64, cost float64) trace.Usage {
	return trace.Usage{Scope: scope, InputTokens: tokens, CostUSD: &cost}
}

// Each limit stops the turn: the agent would go on for ever.
func TestLimitsEndARunAndItFails(t *testing.T) {
	t.Parallel()
	forEver := func(each func(s scene, i int)) player {
		return func(s scene) error {
			for i := 0; s.Err() == nil; i++ {
				each(s, i)
				select {
				case <-time.After(10 * time.Millisecond):
				case <-s.Done():
				}
			}
			return nil
		}
	}
	for name, c := range map[string]struct {
		limits, want string
		agent        player
	}{
		"time":             {"time: 50ms", "limit: the run took longer than 50ms", forEver(func(scene, int) {})},
		"tokens of steps":  {"tokens: 100", "limit: the agent used 120 tokens, and 100 are allowed", forEver(func(s scene, _ int) { s.Emit(usage(trace.UsageStep, 40, 0)) })},
		"tokens so far":    {"tokens: 100", "limit: the agent used 120 tokens, and 100 are allowed", forEver(func(s scene, i int) { s.Emit(usage(trace.UsageSession, int64(40*i), 0)) })},
		"cost":             {"cost_usd: 0.1", "limit: the run cost 0.12 US dollars, and 0.1 are allowed", forEver(func(s scene, _ int) { s.Emit(usage(trace.UsageStep, 1, 0.04)) })},
		"steps":            {"steps: 3", "limit: the agent called its model more than 3 times", forEver(func(s scene, i int) { s.StepStart(trace.Step{}); s.Message(fmt.Sprint(i), "x") })},
		"at the very end":  {"tokens: 100", "limit: the agent used 101 tokens, and 100 are allowed", func(s scene) error { s.Message("m", "x"); s.Emit(usage(trace.UsageTurn, 101, 0)); return nil }},
		"in a later turn":  {"tokens: 100", "limit: the agent used 120 tokens, and 100 are allowed", func(s scene) error { s.Message("m", "x"); s.Emit(usage(trace.UsageTurn, 60, 0)); return nil }},
		"and it can score": {"tokens: 100", "limit: ", func(s scene) error { s.Message("m", "right"); s.Emit(usage(trace.UsageTurn, 101, 0)); return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := one(t, "name: one\nturns: [go on, go on]\nlimits: {"+c.limits+"}\ngraders: [{type: output, contains: right}]", c.agent)
			want(t, got, eval.Failed, c.want)
			if len(got.Graders) != 2 || got.Graders[0].Type != "limit" || !got.Graders[0].Decided || got.Trace == "" {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestAsMuchAsALimitIsAllowed(t *testing.T) {
	t.Parallel()
	got := one(t, "name: one\nprompt: go\nlimits: {time: 1m, tokens: 100, cost_usd: 0.3, steps: 1}\ngraders: [{type: output, contains: right}]", func(s scene) error {
		s.Message("m", "right")
		for range 2 { // as steps, and again as their sum
			s.Emit(usage(trace.UsageStep, 50, 0.15))
		}
		s.Emit(usage(trace.UsageTurn, 100, 0.3))
		s.Emit(usage(trace.UsageSession, 100, 0.3))
		return nil
	})
	want(t, got, eval.Passed, "")
	if got.Usage == nil || got.Usage.Input != 100 || got.CostUSD == nil || *got.CostUSD < 0.29999 || *got.CostUSD > 0.30001 || got.Steps != 1 {
		t.Errorf("%+v", got)
	}
}

// After a question, an agent may go on with the same call of its model.
func TestAStepThatAQuestionCutsCountsOnce(t *testing.T) {
	t.Parallel()
	const text = "name: one\nprompt: go\nanswers: [{question: name, choose: Ada}]\ngraders: [{type: output, contains: Ada}]\nlimits: "
	agent := func(s scene) error {
		s.Message("k", "Hello.")
		return asks("Your name?")(s)
	}
	want(t, one(t, text+"{steps: 1}", agent), eval.Passed, "")
	want(t, one(t, text+"{steps: 1}", func(s scene) error {
		s.StepStart(trace.Step{})
		s.Message("l", "first")
		s.StepEnd()
		return agent(s)
	}), eval.Failed, "limit: the agent called its model more than 1 times")
}

// What is not the agent's own work is an error, and in no rate.
func TestErrorsAreInNoRate(t *testing.T) {
	t.Parallel()
	const simple = "name: one\nprompt: go\ngraders: [{type: outcome, completed: true}]\n"
	overloaded := func(s scene) error {
		s.End(trace.Stop{Reason: "529", Outcome: trace.OutcomeFailed, Class: trace.ClassOverloaded, Error: "the model's server is overloaded"})
		return nil
	}
	for name, c := range map[string]struct {
		text   string
		agent  player
		v      eval.Verdict
		reason string
	}{
		"cannot start": {simple, func(scene) error {
			return &agentkit.PromptError{Reason: trace.ReasonUnavailable, Sentence: "the program was not found"}
		}, eval.Errored, "the program was not found"},
		"the provider failed": {simple, overloaded, eval.Errored, "overloaded"},
		"the agent failed":    {simple, func(scene) error { return errors.New("I give up") }, eval.Failed, "outcome: "},
		"setup failed":        {simple + "workspace: {setup: ['echo no >&2; exit 3']}", says("x"), eval.Errored, `the command "echo no >&2; exit 3" failed: exit status 3: no`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := one(t, c.text, c.agent)
			want(t, got, c.v, c.reason)
			if row := eval.Tally([]eval.Cell{got})[0]; (row.RateText() == "-") != (c.v == eval.Errored) || row.Under() == (c.v == eval.Errored) {
				t.Errorf("%+v", row)
			}
		})
	}
}

// An agent that waits for its model until the time is over has not failed.
func TestAModelThatDoesNotAnswerIsAnError(t *testing.T) {
	t.Parallel()
	const text = simple + "limits: {time: 100ms}"
	wait := func(s scene) error { s.Emit(trace.Notice("retry", "no way to the model")); <-s.Done(); return nil }
	got := one(t, text, wait)
	want(t, got, eval.Errored, `the run took longer than 100ms, and the agent's model did not answer: "no way to the model"`)
	if got.Trace == "" || len(got.Graders) != 0 {
		t.Errorf("%+v", got)
	}
	want(t, one(t, text, func(s scene) error {
		s.Emit(trace.Notice("retry", "no way to the model"))
		s.Message("m", "there it is")
		<-s.Done()
		return nil
	}), eval.Failed, "limit: the run took longer than 100ms")
}

func asksFor(command string) player {
	return func(s scene) error {
		call := trace.ToolCall{ToolCallID: "c", RawName: "bash", Name: "bash", ToolKind: trace.ToolExecute, Title: command, Input: agentkit.Encode(map[string]string{"command": command})}
		s.ToolCall(call)
		a := agentkit.Approve(s.Builder, trace.PermissionCheck{Request: trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Title: command}, Call: call})[0]
		answer, err := a.Wait(s, s.host)
		if err != nil {
			return err
		}
		s.Message("m", fmt.Sprintf("%s by %s because %q", answer.OptionKind, answer.By, answer.Reason))
		return nil
	}
}

// Without a rule that allows it, a call is denied, also if a rule would ask a person.
func TestWhatTheCaseDoesNotAllowIsDenied(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ permissions, want string }{
		"no permissions":   {"", `reject_once by policy because "not allowed by the case"`},
		"other rules":      {"permissions: {rules: [{kinds: [read], then: allow}]}", `reject_once by policy because "not allowed by the case"`},
		"a rule that asks": {"permissions: {rules: [{then: ask}]}", `reject_once by case because "not allowed by the case"`},
		"allowed":          {"permissions: {rules: [{kinds: [execute], then: allow}]}", `allow_once by policy because ""`},
		"a script":         {"permissions: {script: [{tool: bash, then: deny, reason: not this}]}", `reject_once by policy because "not this"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := one(t, "name: one\nprompt: go\n"+c.permissions+"\ngraders: [{type: output, equals: '"+c.want+"'}]", asksFor("make"))
			want(t, got, eval.Passed, "")
		})
	}
}

func asks(text string, choices ...string) player {
	return func(s scene) error {
		q := trace.Question{QuestionID: "q", Text: text}
		for _, c := range choices {
			q.Choices = append(q.Choices, trace.Choice{Label: c})
		}
		answer, err := s.host.Ask(s, s.Question(q))
		if err != nil {
			return err
		}
		s.Message("m", fmt.Sprintf("%s %s by %s because %q", answer.Outcome, strings.Join(answer.Values, ","), answer.By, answer.Reason))
		return nil
	}
}

func TestQuestionsHaveTheAnswersOfTheCase(t *testing.T) {
	t.Parallel()
	const answers = "answers: [{question: colour, choose: mauve}, {question: colour, choose: green}, {question: name, choose: Ada}]"
	for name, c := range map[string]struct {
		answers, want string
		agent         player
	}{
		"a choice":             {answers, `selected Green by case because ""`, asks("Which colour?", "red", "Green")},
		"free text":            {answers, `selected Ada by case because ""`, asks("Your name, please")},
		"no answer":            {answers, `expired  by nobody because "the case has no answer to this question"`, asks("How old?")},
		"nothing that it has":  {answers, `expired  by nobody because "the case chooses \"green\", which is not offered"`, asks("Which colour?", "red")},
		"a case without any":   {"", `expired  by nobody because "the case has no answer to this question"`, asks("Which colour?", "red")},
		"the first that fits":  {answers, `selected mauve by case because ""`, asks("Which colour?", "green", "mauve")},
		"case of letters":      {answers, `expired  by nobody because "the case has no answer to this question"`, asks("Which Colour?", "green")},
		"free text for choice": {answers, `selected mauve by case because ""`, asks("Which colour?")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := one(t, "name: one\nprompt: go\n"+c.answers+"\ngraders: [{type: output, equals: '"+c.want+"'}]", c.agent)
			want(t, got, eval.Passed, "")
		})
	}
}

func TestPromptsAreSentOneAfterTheOther(t *testing.T) {
	t.Parallel()
	const text = "name: one\nturns: [one, two, three]\ngraders: [{type: output, equals: 'one,two,three'}, {type: file, path: log, equals: 'one,two,three'}]"
	var heard []string
	echo := func(s scene) error {
		heard = append(heard, s.prompt)
		s.Message("m", strings.Join(heard, ","))
		return os.WriteFile(filepath.Join(s.cwd, "log"), []byte(strings.Join(heard, ",")), 0o600)
	}
	want(t, one(t, text, echo), eval.Passed, "")
	sent := 0
	got := one(t, text, func(s scene) error { sent++; return errors.New("I give up") })
	want(t, got, eval.Failed, "output")
	if sent != 1 {
		t.Errorf("after a turn that failed, %d prompts were sent in all", sent)
	}
}

func TestAnAgentHasACopyOfTheWorkspace(t *testing.T) {
	t.Parallel()
	b := newBench(t, "name: placeholder\nprompt: go\ngraders: [{type: errors}]", map[string]agent.Runtime{"a": player(func(s scene) error {
		if _, err := os.Stat(filepath.Join(s.cwd, "..", "one.yaml")); err == nil {
			return errors.New("the case is beside the workspace")
		}
		for name, text := range map[string]string{"a.txt": "one\nTWO\nthree\n", ".git/index": "x", "sub/new.txt": "1\n2\n"} {
			write(t, filepath.Join(s.cwd, name), text)
		}
		s.Message("m", "done")
		return errors.Join(os.Remove(filepath.Join(s.cwd, "gone.txt")), os.Symlink("/etc/passwd", filepath.Join(s.cwd, "leads-out")), os.Chmod(filepath.Join(s.cwd, "run.sh"), 0o700))
	})})
	for name, text := range map[string]string{"a.txt": "one\ntwo\nthree\n", "gone.txt": "x\n", "same.txt": "same\n", "run.sh": "-- a\n"} {
		write(t, filepath.Join(b.dir, "source", name), text)
	}
	write(t, filepath.Join(b.dir, "one.yaml"), `name: one
prompt: go
workspace: {source: source, setup: ["mkdir .git && echo prepared > prepared.txt"]}
graders:
  - {type: file, path: prepared.txt, contains: prepared}
  - {type: diff, max_lines: 5, only: [a.txt, gone.txt, leads-out, run.sh, sub/**]}
  - {type: diff, max_lines: 4, name: few, required: false}
  - {type: diff, only: [gone.txt, leads-out, run.sh, sub/**], name: not-a, required: false}
  - {type: diff, only: [a.txt, leads-out, run.sh, sub/**], name: not-gone, required: false}
  - {type: diff, only: [a.txt, gone.txt, run.sh, sub/**], name: not-link, required: false}
  - {type: diff, only: [a.txt, gone.txt, leads-out, sub/**], name: not-mode, required: false}
  - {type: file, path: leads-out, contains: root, name: outside, required: false}
  - {type: command, run: "test -f a.txt && echo more > made-by-a-grader"}
  - {type: diff, max_lines: 5, name: again}
  - {type: command, run: "exit 3", exit: 3}
  - {type: command, run: 'test -z "$HOME$SECRET"'}
`)
	b.plan(run.Choice{})
	got := b.again()[0]
	want(t, got, eval.Passed, "")
	for _, f := range got.Graders {
		if !f.Required && f.Verdict == eval.Passed {
			t.Errorf("%s: %s, %s", f.Grader, f.Verdict, f.Reason)
		}
	}
	if text, err := os.ReadFile(filepath.Join(b.dir, "source", "a.txt")); err != nil || string(text) != "one\ntwo\nthree\n" {
		t.Errorf("the source has changed: %v %s", err, text)
	}
	if text, err := os.ReadFile(filepath.Join(b.dir, "results", got.Trace)); err != nil || strings.Count(string(text), "\n") < 5 || !strings.Contains(string(text), `"final_output":"done"`) {
		t.Errorf("the trace: %v %s", err, text)
	}
}

//evidence:for limit-eval-command
func TestCommandsAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, want string
		v          eval.Verdict
	}{
		"setup":  {"workspace: {setup: [sleep 60]}\ngraders: [{type: errors}]", `the command "sleep 60" failed: it was ended after 50ms`, eval.Errored},
		"grader": {"graders: [{type: command, run: sleep 60}]", "command: the workspace cannot be read: it was ended after 50ms", eval.Failed},
	} {
		b := newBench(t, "name: one\nprompt: go\n"+c.text, map[string]agent.Runtime{"a": says("x")})
		b.CommandTime = 50 * time.Millisecond
		got := b.again()[0]
		if want(t, got, c.v, c.want); c.v == eval.Failed && got.Graders[0].Verdict != eval.Unclear {
			t.Errorf("%s: %+v", name, got.Graders)
		}
	}
}

//evidence:for limit-eval-file
func TestAFileThatIsTooLargeIsNotJudged(t *testing.T) {
	t.Parallel()
	got := one(t, "name: one\nprompt: go\ngraders: [{type: file, path: large, not_contains: x}]", func(s scene) error {
		name := filepath.Join(s.cwd, "large")
		write(t, name, "")
		return os.Truncate(name, 16<<20+1)
	})
	if want(t, got, eval.Failed, "file: the workspace cannot be read: large is larger than 16 MB"); got.Graders[0].Verdict != eval.Unclear {
		t.Errorf("%+v", got.Graders)
	}
}

// However much an agent did, its result is a line of bounded length.
func TestAResultOfManyCallsIsALine(t *testing.T) {
	t.Parallel()
	got := one(t, "name: one\nprompt: go\ngraders: [{type: tools, match: any_order, calls: [{name: x}]}, {type: budget, calls: 5}]", func(s scene) error {
		for i := range 1000 {
			id := fmt.Sprint(i)
			s.ToolCall(trace.ToolCall{ToolCallID: id, RawName: "x", Name: "x", ToolKind: trace.ToolOther})
			s.ToolResult(trace.ToolResult{ToolCallID: id, Status: trace.ToolCompleted})
		}
		return nil
	})
	if want(t, got, eval.Failed, "budget: 1000 calls of tools, and 5 are allowed"); got.Calls != 1000 || len(got.Graders[1].Evidence) != 200 {
		t.Errorf("%d calls, %d ids", got.Calls, len(got.Graders[1].Evidence))
	}
}

func TestNothingIsLeftOfAWorkspace(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	seen := ""
	want(t, one(t, simple+"workspace: {setup: [mkdir -p a/b && echo x > a/b/c && chmod 500 a/b]}", func(s scene) error {
		seen = s.cwd
		return says("x")(s)
	}), eval.Passed, "")
	want(t, one(t, simple+"workspace: {setup: [exit 1]}", says("x")), eval.Errored, "exit 1")
	if all, err := os.ReadDir(dir); err != nil || len(all) != 0 || !strings.HasPrefix(seen, dir) {
		t.Errorf("%v %v, %s", err, all, seen)
	}
}

// The next process removes the workspaces of a killed one. It leaves alone the workspace of a run that goes on,
// one that is just being made, and a directory that only looks like one.
func TestTheWorkspaceOfAKilledRunIsRemoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no locks of files")
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	there := func() (names []string) {
		all, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			names = append(names, e.Name())
		}
		return names
	}
	var mine string
	want(t, one(t, simple+"workspace: {setup: [mkdir a && echo x > a/b && chmod 500 a]}", func(s scene) error {
		mine = filepath.Base(filepath.Dir(s.cwd))
		// A copy has the form of a workspace, and no process holds its lock.
		if err := os.CopyFS(filepath.Join(dir, "tributary-eval-killed"), os.DirFS(filepath.Dir(s.cwd))); err != nil {
			return err
		}
		if err := os.Symlink(mine, filepath.Join(dir, "tributary-eval-link")); err != nil {
			return err
		}
		write(t, filepath.Join(dir, "tributary-eval-new", "workspace", "a"), "x")
		write(t, filepath.Join(dir, "tributary-eval-file"), "x")
		want(t, one(t, simple, says("y")), eval.Passed, "")
		if got := there(); !slices.Equal(got, []string{mine, "tributary-eval-file", "tributary-eval-link", "tributary-eval-new"}) {
			t.Errorf("beside a run that goes on: %q", got)
		}
		return says("x")(s)
	}), eval.Passed, "")
	if got := there(); !slices.Equal(got, []string{"tributary-eval-file", "tributary-eval-link", "tributary-eval-new"}) || mine == "" {
		t.Errorf("there are %q", got)
	}
}
