package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/eval"
)

// rated are runs of a case with an agent, one for each letter: p passed, f failed, e had an error.
func rated(name, agent, letters string) (cells []eval.Cell) {
	for i, letter := range letters {
		c := eval.Cell{Case: name, Agent: agent, Repeat: i + 1, Verdict: eval.Passed, Seconds: 2, Versions: eval.Versions{Agent: agent + " 1"}}
		switch letter {
		case 'f':
			c.Verdict, c.Reason = eval.Failed, "output: it is <wrong> | @all"
		case 'e':
			c.Verdict, c.Reason = eval.Errored, "it did not start"
		}
		cells = append(cells, c)
	}
	return cells
}

func TestEvalCompare(t *testing.T) {
	t.Parallel()
	old := resultsDir(t, append(rated("a", "x", "ppppp"), append(rated("b", "x", "ppfe"), rated("old", "x", "p")...)...)...)
	worse := rated("a", "x", "fffff")
	for i := range worse {
		worse[i].Versions.Agent, worse[i].Seconds = "x 2", 3
	}
	now := resultsDir(t, append(worse, append(rated("b", "x", "ppfee"), rated("new", "x", "e")...)...)...)
	r := command(t, "", "eval", "compare", old, now)
	r.want(t, exitFailed, "")
	for _, want := range []string{
		"a            x      5/5 (57 to 100 %)  0/5 (0 to 43 %)", "-100 (-100 to -39)", "×1.50", "worse, dropped too much",
		"2/3 (21 to 94 %)   2/3 (21 to 94 %)  +0 (-53 to +53)", "no difference shown", "all 2 cases  x",
		"Judged only in the baseline: old with x.\n", "Judged in neither: new with x (0 errors in the baseline, 1 in the new results).\n", "In no rate: b with x (1 error in the baseline, 2 in the new results).\n",
		"The versions of x differ: agent x 1 in the baseline, agent x 1; agent x 2 in the new results.\n",
		"The rate of x over all cases dropped by 50.0 points, and 5.0 are allowed.\n", "The rate of a with x dropped by 100.0 points, and 5.0 are allowed.\n",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%s\nlacks %s", r.out, want)
		}
	}
	command(t, "", "eval", "compare", "--max-drop", "1", old, now).want(t, exitOK, "")
	command(t, "", "eval", "compare", filepath.Join(now, "results.jsonl"), old).want(t, exitOK, "")

	base := filepath.Join(t.TempDir(), "baseline.jsonl")
	command(t, "", "eval", "report", "--baseline", base, old).want(t, exitOK, "")
	r = command(t, "", "eval", "compare", "--json", base, now)
	r.want(t, exitFailed, "")
	var got struct {
		MaxDrop float64 `json:"max_drop"`
		Dropped bool
		Cases   []struct {
			Case, Finding string
			Dropped       bool
			Baseline      struct{ Rate float64 }
		}
		Agents []struct{ Difference float64 }
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || !got.Dropped || got.MaxDrop != 0.05 || len(got.Cases) != 2 || got.Cases[0].Finding != "worse" || got.Cases[0].Baseline.Rate != 1 || got.Agents[0].Difference != -0.5 {
		t.Errorf("%v: %s", err, r.out)
	}

	command(t, "", "eval", "compare", old, resultsDir(t, rated("other", "x", "p")...)).want(t, exitNotJudged, "there is nothing to compare: no case was judged with the same agent in both")
	command(t, "", "eval", "compare", old, resultsDir(t)).want(t, exitNotJudged, "there is nothing to compare")
	command(t, "", "eval", "compare", old, t.TempDir()).want(t, exitUsage, "results.jsonl cannot be read: no such file or directory: name the results")
	command(t, "", "eval", "compare", old, file(t, "x.jsonl", "{}\n")).want(t, exitUsage, "x.jsonl:1: this is no result")
	for _, drop := range []string{"-0.1", "5", "NaN"} {
		command(t, "", "eval", "compare", "--max-drop="+drop, old, now).want(t, exitUsage, "write a rate from 0 to 1")
	}
}

func TestEvalReport(t *testing.T) {
	dir := resultsDir(t, append(rated("a", "x", "pf"), rated("b", "x", "p")...)...)
	summary, out := filepath.Join(t.TempDir(), "summary.md"), t.TempDir()
	if err := os.WriteFile(summary, []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	path := func(name string) string { return filepath.Join(out, name) }
	r := command(t, "", "eval", "report", "--html", path("r.html"), "--junit", path("r.xml"), "--markdown", path("r.md"), "--baseline", path("b.jsonl"), dir)
	r.want(t, exitOK, "")
	if !strings.Contains(r.out, "CASE  AGENT  PASS  FAIL") || !strings.Contains(r.out, "a     x      1     1     0      1/2") {
		t.Errorf("%s", r.out)
	}
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	md := read(path("r.md"))
	if !strings.HasPrefix(md, "### Evals: 1 of 2 passed, 1 failed\n") || read(summary) != "before\n"+md {
		t.Errorf("%s\n%s", md, read(summary))
	}
	if x := read(path("r.xml")); !strings.Contains(x, `<testsuite name="x" tests="3" failures="1"`) || !strings.Contains(x, `<testcase classname="a" name="a #2"`) {
		t.Errorf("%s", x)
	}
	if x := read(path("r.html")); !strings.Contains(x, "it is &lt;wrong&gt; | @all") {
		t.Errorf("%s", x)
	}
	traced := resultsDir(t, eval.Cell{Case: "a", Agent: "x", Repeat: 1, Verdict: eval.Passed, Trace: "cells/k/trace.jsonl"})
	for _, c := range []struct{ html, link string }{
		{filepath.Join(traced, "r.html"), `href="cells/k/trace.jsonl"`},
		{filepath.Join(filepath.Dir(traced), "r.html"), `href="` + filepath.Base(traced) + `/cells/k/trace.jsonl"`},
	} {
		command(t, "", "eval", "report", "--html", c.html, traced).want(t, exitOK, "")
		if x := read(c.html); !strings.Contains(x, c.link) {
			t.Errorf("the page lacks %s:\n%s", c.link, x)
		}
	}
	t.Setenv("GITHUB_STEP_SUMMARY", filepath.Join(out, "nowhere", "summary.md"))
	command(t, "", "eval", "report", dir).want(t, exitOK, "the summary in GITHUB_STEP_SUMMARY cannot be written: no such file or directory")
	command(t, "", "eval", "report", resultsDir(t)).want(t, exitUsage, "has no results yet: run the suite first")
	command(t, "", "eval", "report", t.TempDir()).want(t, exitUsage, "results.jsonl cannot be read")
	command(t, "", "eval", "report", "--html", filepath.Join(out, "none", "r.html"), dir).want(t, exitFailed, "cannot be written: no such file")
}
