package cli

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eval"
)

// suiteOf copies the suite of package eval/run.
func suiteOf(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	syscall.ForkLock.RLock() // as in file
	defer syscall.ForkLock.RUnlock()
	if err := os.CopyFS(dir, os.DirFS("../../eval/run/testdata")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// cellsOf reads results.
func cellsOf(t *testing.T, dir string) []eval.Cell {
	t.Helper()
	name := filepath.Join(dir, "results.jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	cells, _, err := eval.ReadCells(name, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

func TestEvalRun(t *testing.T) {
	t.Parallel()
	dir := suiteOf(t)
	suite, junit := filepath.Join(dir, "suite.yaml"), filepath.Join(dir, "junit.xml")
	r := command(t, "", "eval", "run", suite, "--jobs", "3", "--junit", junit)
	r.want(t, exitFailed, "12/12 ")
	var table []string
	for line := range strings.Lines(r.out) {
		fields := strings.Fields(line)
		if len(fields) > 6 {
			fields[6] = "s"
		}
		table = append(table, strings.Join(fields, " "))
	}
	want := []string{
		"CASE AGENT PASS FAIL ERROR RATE s FIRST REASON",
		"colour demo 3 0 0 3/3 s",
		"two-commands demo 3 0 0 3/3 s",
		"typo fixer 3 0 0 3/3 s",
		`typo fixer-flaky 0 3 0 0/3 s diff: "scratch.txt" changed, which is not allowed`,
		"",
		"The results are in " + filepath.Join(dir, "suite.results", "results.jsonl") + ".",
	}
	if !slices.Equal(table, want) {
		t.Errorf("%s", r.out)
	}
	for _, c := range cellsOf(t, filepath.Join(dir, "suite.results")) {
		if c.Versions.Tributary == "" || c.Agent == "demo" && c.Versions.Agent != "demo" {
			t.Errorf("%+v", c.Versions)
		}
		// A stored run is judged as it was, but for what needs its workspace.
		graded := command(t, "", "eval", "grade", "--json", "--case", filepath.Join(dir, "cases", c.Case+".yaml"), filepath.Join(dir, "suite.results", filepath.FromSlash(c.Trace)))
		var again eval.Result
		if err := json.Unmarshal([]byte(graded.out), &again); err != nil || len(again.Graders) != len(c.Graders) {
			t.Fatalf("%v: %s %s", err, graded.out, graded.errors)
		}
		for i, f := range again.Graders {
			if f.Verdict != eval.Skipped && (f.Verdict != c.Graders[i].Verdict || f.Reason != c.Graders[i].Reason) {
				t.Errorf("%s: %+v, and then %+v", c.Case, c.Graders[i], f)
			}
		}
	}
	var read struct {
		Suites []struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Cases    []struct {
				Name string `xml:"name,attr"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	data, err := os.ReadFile(junit)
	if err == nil {
		err = xml.Unmarshal(data, &read)
	}
	if err != nil || len(read.Suites) != 3 || read.Suites[0].Name != "demo" || read.Suites[0].Tests != 6 || read.Suites[2].Failures != 3 || read.Suites[0].Cases[0].Name != "colour #1" {
		t.Errorf("%v: %+v", err, read)
	}

	r = command(t, "", "eval", "run", suite, "--json", "--tag", "files", "--agent", "fixer")
	r.want(t, exitOK, "3 of 3 runs have a result in "+filepath.Join(dir, "suite.results")+" already")
	if lines := strings.Split(strings.TrimSpace(r.out), "\n"); len(lines) != 3 || strings.Count(r.errors, "\n") != 1 {
		t.Errorf("%s\n%s", r.out, r.errors)
	}
	if n := len(cellsOf(t, filepath.Join(dir, "suite.results"))); n != 12 {
		t.Errorf("%d results", n)
	}
	write := func(name, text string) {
		t.Helper()
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	// Another program of the agent is another agent.
	write("agent.sh", "#!/bin/sh\nexit 7\n")
	r = command(t, "", "eval", "run", suite, "--agent", "fixer", "--repeats", "1")
	r.want(t, exitFailed, "1/1 typo with fixer, #1: fail")
	write("agent.sh", "#!/no/such/interpreter\n")
	r = command(t, "", "eval", "run", suite, "--agent", "fixer", "--case", "typo", "--repeats", "1")
	r.want(t, exitNotJudged, "1/1 typo with fixer, #1: error")
	command(t, "", "eval", "run", suite, "--agent", "fixer", "--case", "typo", "--repeats", "1").want(t, exitNotJudged, "1 of 1 runs have a result")
	command(t, "", "eval", "run", suite, "--agent", "fixer", "--case", "typo", "--repeats", "1", "--retry", "error").want(t, exitNotJudged, "1/1 typo with fixer, #1: error")
	if n := len(cellsOf(t, filepath.Join(dir, "suite.results"))); n != 15 {
		t.Errorf("%d results", n)
	}
}

func TestEvalRunMistakes(t *testing.T) {
	t.Parallel()
	dir := suiteOf(t)
	suite := filepath.Join(dir, "suite.yaml")
	lost := filepath.Join(dir, "lost.yaml")
	text := "cases: [cases/colour.yaml]\nagents:\n  demo:\n    adaptor: x\n"
	if err := os.WriteFile(lost, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{filepath.Join(dir, "none.yaml"), "the case cannot be read"},
		{filepath.Join(dir, "cases/typo.yaml"), "is a case: name a file with a suite"},
		{lost, "lost.yaml:4: agents.demo.adaptor is not a key here"},
		{suite + " --case none", `the suite has no case "none": write one of colour, two-commands, typo`},
		{suite + " --agent none", `the suite has no agent "none"`},
		{suite + " --retry failed", `--retry is "failed": write --retry error, or leave it out`},
		{suite + " --jobs 0", "--jobs is 0: write a number of 1 or more"},
		{suite + " --repeats=-1", "--repeats is -1: write a number of 1 or more"},
		{suite + " --out " + dir, "holds something else, and no results.jsonl"},
		{suite + " --out " + filepath.Join(dir, "typo", "sub"), "which is copied for each run of typo: name another directory with --out"},
		{suite + " --config " + filepath.Join(dir, "none.yaml"), "there is no such file"},
		{"", "the suite is missing"},
	} {
		command(t, "", append([]string{"eval", "run"}, strings.Fields(c.args)...)...).want(t, exitUsage, c.want)
	}
	if _, err := os.Stat(filepath.Join(dir, "suite.results")); err == nil {
		t.Error("a mistake has made a directory")
	}
}

// An agent of the suite without settings is the one of its name in the configuration.
func TestEvalRunWithAConfiguration(t *testing.T) {
	t.Parallel()
	dir := suiteOf(t)
	for name, text := range map[string]string{
		"t.yaml": "agents:\n  mine: {adapter: command, command: ./agent.sh, cwd: /no/such/directory, policy: {rules: [{then: allow}]}}\n",
		"s.yaml": "cases: [cases/a.yaml]\nagents: {mine: {}, demo: {}}\n",
		"a.yaml": "name: a\nprompt: x\nworkspace: {source: ../typo}\nagents: [mine]\ngraders: [{type: output, contains: spelling}]",
	} {
		if name == "a.yaml" {
			name = "cases/a.yaml"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command(t, "", "eval", "run", filepath.Join(dir, "s.yaml")).want(t, exitUsage, "s.yaml:2: agents.mine has no adapter")
	command(t, "", "eval", "run", filepath.Join(dir, "s.yaml"), "--config", filepath.Join(dir, "t.yaml")).want(t, exitOK, "1/1 a with mine, #1: pass")
}

func TestMixedVersionsAreSaid(t *testing.T) {
	t.Parallel()
	cell := func(agent, version string) eval.Cell {
		return eval.Cell{Agent: agent, Versions: eval.Versions{Agent: version}}
	}
	got := mixedVersions([]eval.Cell{cell("a", "x 1"), cell("b", "y 1"), cell("a", ""), cell("a", "x 2"), cell("b", "y 1")})
	if len(got) != 1 || got[0] != "the results of a are of several versions (x 1, x 2): name a new directory with --out to run all with one." {
		t.Errorf("%q", got)
	}
}

// userRun runs the program in a directory, as a user does.
func userRun(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program, args...)
	c.Dir, c.Env = dir, append(os.Environ(), asProgram+"=1", "TMPDIR="+t.TempDir())
	return c
}

func TestTheExampleOfEvalInitPasses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, err := userRun(t, dir, "eval", "init").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Now run it: tributary eval run suite.yaml\n") {
		t.Fatalf("%v %s", err, out)
	}
	out, err = userRun(t, dir, "eval", "run", "suite.yaml").CombinedOutput()
	if err != nil || strings.Count(string(out), " 2/2 ") != 3 || !strings.Contains(string(out), "The results are in suite.results/results.jsonl.\n") {
		t.Errorf("%v %s", err, out)
	}
	out, err = userRun(t, dir, "eval", "init").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "is there already: name another directory") {
		t.Errorf("%v %s", err, out)
	}
	out, err = userRun(t, dir, "eval", "check", "suite.yaml").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Its cases: 3, its agents: 1.") {
		t.Errorf("%v %s", err, out)
	}
	out, err = userRun(t, dir, "eval", "init", "other/deep").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "tributary eval run other/deep/suite.yaml\n") {
		t.Errorf("%v %s", err, out)
	}
}

// A program that a configuration names by its path there is found from each directory.
func TestAProgramBesideTheConfiguration(t *testing.T) {
	t.Parallel()
	dir := suiteOf(t)
	if err := os.WriteFile(filepath.Join(dir, "tributary.yaml"), []byte("agents: {mine: {adapter: command, command: ./agent.sh}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", "--cwd", "typo", "fix it"}, {"run", "--config", "tributary.yaml", "--cwd", "typo", "fix it"}} {
		if out, err := userRun(t, dir, args...).CombinedOutput(); err != nil || string(out) != "I fixed the spelling in README.md.\n" {
			t.Errorf("%v: %v %s", args, err, out)
		}
	}
}

// waiting is a suite of four runs, whose agent waits in the third one until the file go is there.
func waiting(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	for name, text := range map[string]string{
		"agent.sh":   "#!/bin/sh\ncat >/dev/null\necho x >>\"$SUITE/runs\"\nif [ $(wc -l <\"$SUITE/runs\") = 3 ]; then echo $$ >\"$SUITE/third\"; while [ ! -e \"$SUITE/go\" ]; do sleep 0.05; done; fi\necho done\n",
		"suite.yaml": "cases: [one.yaml]\nagents: {a: {adapter: command, command: ./agent.sh, env: {SUITE: " + dir + "}}}\nrepeats: 4\n",
		"one.yaml":   "name: one\nprompt: go\ngraders: [{type: output, contains: done}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	return dir
}

// untilThird waits until the third run has begun.
func untilThird(t *testing.T, dir string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "third")); err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the third run did not begin")
		}
	}
}

func runsOf(t *testing.T, dir string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(data, []byte("\n"))
}

func TestASuiteGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		signal os.Signal
		status int
	}{"kill": {os.Kill, -1}, "interrupt": {syscall.SIGINT, exitCanceled}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := waiting(t)
			c := userRun(t, dir, "eval", "run", "suite.yaml")
			var out output
			c.Stdout, c.Stderr = &out, &out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			untilThird(t, dir)
			if err := c.Process.Signal(end.signal); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			if status := c.ProcessState.ExitCode(); status != end.status {
				t.Errorf("exit status %d, want %d: %s", status, end.status, out.String())
			}
			if got := cellsOf(t, filepath.Join(dir, "suite.results")); len(got) != 2 || got[0].Repeat != 1 || got[1].Repeat != 2 {
				t.Errorf("%+v", got)
			}
			if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			again, err := userRun(t, dir, "eval", "run", "suite.yaml").CombinedOutput()
			if err != nil || !strings.Contains(string(again), "2 of 4 runs have a result") || !strings.Contains(string(again), " 4/4 ") {
				t.Errorf("%v %s", err, again)
			}
			if got := cellsOf(t, filepath.Join(dir, "suite.results")); len(got) != 4 || runsOf(t, dir) != 5 {
				t.Errorf("%d runs: %+v", runsOf(t, dir), got)
			}
		})
	}
}
