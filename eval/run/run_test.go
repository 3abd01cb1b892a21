package run_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/eval/run"
	"github.com/tributary-dev/tributary/trace"
)

const simple = "name: one\nprompt: go\ngraders: [{type: outcome, completed: true}]\n"

func TestRunsThatHaveAResultAreNotRunAgain(t *testing.T) {
	t.Parallel()
	runs := 0
	b := newBench(t, simple+"repeats: 3", map[string]agent.Runtime{"a": player(func(s scene) error {
		runs++
		if runs == 2 {
			return &agentkit.PromptError{Reason: trace.ReasonUnavailable, Sentence: "the agent is away"}
		}
		return says("x")(s)
	})})
	expect := func(what string, n int, verdicts ...eval.Verdict) {
		t.Helper()
		var got []eval.Verdict
		for _, c := range b.results.Of(b.cells) {
			got = append(got, c.Verdict)
		}
		if runs != n || !slices.Equal(got, verdicts) {
			t.Errorf("%s: %d runs, want %d; %v, want %v", what, runs, n, got, verdicts)
		}
	}
	b.again()
	expect("the first time", 3, eval.Passed, eval.Errored, eval.Passed)
	b.again()
	expect("again", 3, eval.Passed, eval.Errored, eval.Passed)

	// By another process, whose writer was killed in the middle of a line.
	if err := b.results.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(b.dir, "results", run.ResultsFile)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	last := strings.LastIndex(strings.TrimSuffix(string(data), "\n"), "\n") + 1
	write(t, name, string(data[:last+10]))
	b.open()
	expect("after a kill", 3, eval.Passed, eval.Errored)
	if now, err := os.ReadFile(name); err != nil || string(now) != string(data[:last]) {
		t.Errorf("the torn line is not cut off: %v %s", err, now)
	}
	b.again()
	expect("the torn one again", 4, eval.Passed, eval.Errored, eval.Passed)
	if now, err := os.ReadFile(name); err != nil || strings.Count(string(now), "\n") != 3 {
		t.Errorf("%v %s", err, now)
	}
	if err := b.Run(t.Context(), b.cells, true); err != nil {
		t.Fatal(err)
	}
	expect("errors again", 5, eval.Passed, eval.Passed, eval.Passed)
	b.cases[0].Pass = &eval.Pass{MinRate: 0.25}
	if got := b.results.Of(b.cells)[0].Pass; got == nil || got.MinRate != 0.25 {
		t.Errorf("the rate that is asked for now is %+v", got)
	}

	write(t, filepath.Join(b.dir, "one.yaml"), simple+"repeats: 3\nanswers: [{question: x, choose: y}]")
	b.plan(run.Choice{})
	expect("another case", 5)
	b.again()
	expect("another case", 8, eval.Passed, eval.Passed, eval.Passed)
}

// What decides how a run goes and is judged is in its key, and nothing else.
func TestKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := func(suite eval.Suite, agents map[string]string) string {
		t.Helper()
		suite.Cases, suite.Agents = []string{"*.yaml"}, map[string]any{"a": nil}
		cases, err := suite.LoadCases(filepath.Join(dir, "suite.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		cells, err := run.Plan(t.Context(), cases, agents, run.Choice{})
		if err != nil {
			t.Fatal(err)
		}
		return cells[0].Key
	}
	write(t, filepath.Join(dir, "one.yaml"), simple+"workspace: {source: src}")
	file := filepath.Join(dir, "src", "sub", "a.txt")
	write(t, file, "one")
	agents := map[string]string{"a": "settings"}
	base := key(eval.Suite{}, agents)
	same := func(what string, want bool, now string) {
		t.Helper()
		if (now == base) != want {
			t.Errorf("%s: the same key is %t", what, !want)
		}
	}
	same("nothing", true, key(eval.Suite{}, agents))
	same("another agent beside", true, key(eval.Suite{}, map[string]string{"a": "settings", "b": "x"}))
	same("the rate that is asked for", true, key(eval.Suite{Settings: eval.Settings{Pass: &eval.Pass{MinRate: 0.5}}}, agents))
	same("more repeats", true, key(eval.Suite{Settings: eval.Settings{Repeats: 5}}, agents))
	same("settings of the agent", false, key(eval.Suite{}, map[string]string{"a": "others"}))
	same("a limit", false, key(eval.Suite{Settings: eval.Settings{Limits: &eval.Limits{Steps: 1}}}, agents))
	same("what unknown counts as", false, key(eval.Suite{Settings: eval.Settings{Unknown: eval.UnknownSkips}}, agents))
	for what, do := range map[string]func() error{
		"another content": func() error { return os.WriteFile(file, []byte("two"), 0o600) },
		"another mode":    func() error { return os.Chmod(file, 0o700) },
		"another name":    func() error { return os.Rename(file, file+"2") },
		"a symlink":       func() error { return errors.Join(os.Remove(file+"2"), os.Symlink("one", file)) },
	} {
		write(t, file, "one")
		if err := os.Chmod(file, 0o600); err != nil {
			t.Fatal(err)
		}
		same("before "+what, true, key(eval.Suite{}, agents))
		if what == "a symlink" {
			if err := os.Rename(file, file+"2"); err != nil {
				t.Fatal(err)
			}
		}
		if err := do(); err != nil {
			t.Fatal(err)
		}
		same(what, false, key(eval.Suite{}, agents))
		if err := os.RemoveAll(filepath.Dir(file)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheProgramOfASuite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own, suite := filepath.Join(dir, "sub", "agent.sh"), filepath.Join(dir, "suite.yaml")
	stands := func(program string) string {
		t.Helper()
		text, err := run.Program(suite, program)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	write(t, own, "one")
	first := stands(own)
	write(t, own, "two")
	if second := stands(own); first == second || !strings.HasPrefix(second, "sub/agent.sh ") {
		t.Errorf("%s, then %s", first, second)
	}
	for _, other := range []string{"claude", "/bin/sh", "", filepath.Join(dir, "none"), dir} {
		if got := stands(other); got != other {
			t.Errorf("%q is %q", other, got)
		}
	}
}

// Eight runs at a time leave the results of all, and are really at the same time.
func TestRunsAtTheSameTime(t *testing.T) {
	t.Parallel()
	const jobs = 8
	var together sync.WaitGroup
	together.Add(jobs)
	var once sync.Map
	b := newBench(t, simple+"repeats: 10", map[string]agent.Runtime{"a": player(func(s scene) error {
		if _, again := once.LoadOrStore(s.cwd, true); again {
			return errors.New("two runs in one workspace")
		}
		together.Done()
		together.Wait()
		return says(s.cwd)(s)
	}), "b": says("x")})
	b.plan(run.Choice{Agents: []string{"a"}, Repeats: jobs})
	b.Jobs = jobs
	told := 0
	b.Done = func(eval.Cell) { told++ }
	if got := b.again(); len(got) != jobs || told != jobs || eval.Tally(got)[0].Pass != jobs {
		t.Errorf("%d told: %+v", told, got)
	}
	if traces, err := filepath.Glob(filepath.Join(b.dir, "results", "cells", "*", "trace.jsonl")); err != nil || len(traces) != jobs {
		t.Errorf("%v: %v", err, traces)
	}
}

func TestTheEndOfTheContextStopsRunsWithoutAResult(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	b := newBench(t, simple+"repeats: 3", map[string]agent.Runtime{"a": player(func(s scene) error {
		if n++; n == 2 {
			stop()
			<-s.Done()
		}
		return says("x")(s)
	})})
	if err := b.Run(ctx, b.cells, false); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if got := b.results.Of(b.cells); len(got) != 1 || got[0].Repeat != 1 || n != 2 {
		t.Errorf("%d runs: %+v", n, got)
	}
	if got := b.again(); len(got) != 3 || n != 4 {
		t.Errorf("%d runs: %+v", n, got)
	}
}

func TestResultsHaveTheirDirectoryAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	refused := func(dir, want string) {
		t.Helper()
		r, err := run.OpenResults(dir)
		if err == nil {
			_ = r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", dir, err, want)
		}
	}
	write(t, filepath.Join(dir, "other", "notes.txt"), "mine")
	refused(filepath.Join(dir, "other"), "holds something else, and no results.jsonl: name another directory with --out")
	write(t, filepath.Join(dir, "foreign", run.ResultsFile), "{}\n")
	refused(filepath.Join(dir, "foreign"), "results.jsonl:1: this is no result of `tributary eval run`")
	refused(filepath.Join(dir, "other", "notes.txt"), "cannot be")
	first, err := run.OpenResults(filepath.Join(dir, "new", "deep"))
	if err != nil {
		t.Fatal(err)
	}
	refused(filepath.Join(dir, "new", "deep"), "another run writes to")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := run.OpenResults(filepath.Join(dir, "new", "deep"))
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}

func TestPlan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a": "name: a\nprompt: x\ntags: [quick, files]\nagents: [one]\ngraders: [{type: errors}]",
		"b": "name: b\nturns: [x]\nrepeats: 2\ngraders: [{type: errors}]",
		"c": "name: c\ngraders: [{type: errors}]",
		"d": "name: d\nprompt: x\nworkspace: {source: nowhere}\ngraders: [{type: errors}]",
		"e": "name: e\nprompt: x\nrepeats: 2\npass: {pass_k: 3}\ngraders: [{type: errors}]",
	} {
		write(t, filepath.Join(dir, name+".yaml"), text)
	}
	suite := eval.Suite{Cases: []string{"*.yaml"}, Agents: map[string]any{"one": nil, "two": nil}}
	cases, err := suite.LoadCases(filepath.Join(dir, "suite.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want run.Choice
		got  string
	}{
		{run.Choice{Cases: []string{"a", "b"}}, "a one 1, b one 1, b two 1, b one 2, b two 2"},
		{run.Choice{Cases: []string{"a", "b"}, Repeats: 1}, "a one 1, b one 1, b two 1"},
		{run.Choice{Cases: []string{"b"}, Agents: []string{"two"}}, "b two 1, b two 2"},
		{run.Choice{Tag: "files"}, "a one 1"},
		{run.Choice{Cases: []string{"e"}, Agents: []string{"one"}, Repeats: 3}, "e one 1, e one 2, e one 3"},
		{run.Choice{Cases: []string{"e"}}, "pass_k is 3, and the case runs 2 times: write repeats: 3"},
		{run.Choice{Cases: []string{"c"}}, "the case has no prompt: write prompt or turns"},
		{run.Choice{Cases: []string{"d"}}, `workspace.source is "nowhere", and there is no such directory`},
		{run.Choice{Cases: []string{"z"}}, `the suite has no case "z": write one of a, b, c, d, e`},
		{run.Choice{Agents: []string{"z"}}, `the suite has no agent "z": write one of one, two`},
		{run.Choice{Tag: "none"}, "there is nothing to run"},
		{run.Choice{Cases: []string{"a"}, Agents: []string{"two"}}, "there is nothing to run"},
		{run.Choice{Cases: []string{"b"}, Repeats: eval.MaxCells}, "more than 100000 runs"},
	} {
		cells, err := run.Plan(t.Context(), cases, map[string]string{"one": "", "two": ""}, c.want)
		var all []string
		keys := map[string]bool{}
		for _, cell := range cells {
			all = append(all, fmt.Sprintf("%s %s %d", cell.Case.Name, cell.Agent, cell.Repeat))
			keys[cell.Key] = true
		}
		got := strings.Join(all, ", ")
		if err != nil {
			got = err.Error()
		}
		if got != c.got && (err == nil || !strings.Contains(got, c.got)) || len(keys) != len(cells) {
			t.Errorf("%+v: %s, want %s", c.want, got, c.got)
		}
	}
}

func TestTheExampleReplacesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	names, err := run.WriteExample(dir)
	if err != nil || !slices.Contains(names, ".gitignore") || fstest.TestFS(os.DirFS(dir), names...) != nil {
		t.Errorf("%v %v", names, err)
	}
	other := t.TempDir()
	write(t, filepath.Join(other, "suite.yaml"), "mine")
	if _, err := run.WriteExample(other); err == nil || !strings.Contains(err.Error(), "suite.yaml is there already: name another directory") {
		t.Errorf("%v", err)
	}
	if all, err := os.ReadDir(other); err != nil || len(all) != 1 {
		t.Errorf("%v %v", err, all)
	}
}
