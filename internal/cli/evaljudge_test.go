package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/export/exporttest"
)

// resultsDir writes results of runs. Cells with a trace have the records of a recorded session.
func resultsDir(t *testing.T, cells ...eval.Cell) string {
	t.Helper()
	dir := t.TempDir()
	var lines bytes.Buffer
	for i, c := range cells {
		if c.Key == "" {
			c.Key = fmt.Sprint("key", i)
		}
		if err := eval.WriteCell(&lines, c); err != nil {
			t.Fatal(err)
		}
		if c.Trace == "" {
			continue
		}
		data, err := os.ReadFile("../../export/testdata/claude.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(c.Trace))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "results.jsonl"), lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEvalGradeOfResultsWithAJudge(t *testing.T) {
	t.Parallel()
	if len(exporttest.File(t, "../../export/testdata/claude.jsonl")) == 0 {
		t.Fatal("there are no records")
	}
	var calls atomic.Int32
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		fmt.Fprint(w, `{"choices":[{"message":{"content":"{\"score\":0.9,\"reason\":\"Fine.\"}"}}],"usage":{"prompt_tokens":7,"completion_tokens":3,"cost":0.002}}`)
	}))
	t.Cleanup(model.Close)
	dir := resultsDir(t,
		eval.Cell{Case: "polite", Agent: "claude", Repeat: 1, Verdict: eval.Failed, Trace: "cells/a/trace.jsonl"},
		eval.Cell{Case: "polite", Agent: "claude", Repeat: 2, Verdict: eval.Errored, Reason: "the agent could not start"},
		eval.Cell{Case: "other", Agent: "claude", Repeat: 1, Verdict: eval.Passed, Trace: "cells/b/trace.jsonl"},
	)
	suite := file(t, "suite.yaml", fmt.Sprintf("cases: [polite.yaml]\nagents: {claude: {adapter: demo}}\njudge: {model: small, endpoint: {url: '%s/v1'}}", model.URL))
	if err := os.WriteFile(filepath.Join(filepath.Dir(suite), "polite.yaml"), []byte("name: polite\ngraders: [{type: judge, rubric: Is polite.}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	grade := func(args ...string) result {
		return command(t, "", append([]string{"eval", "grade", "--case", suite}, args...)...)
	}
	r := grade(dir)
	r.want(t, exitNotJudged, "answers of the judge: 1 asked for, 0 known before, 10 tokens, 0.0020 US dollars")
	if lines := strings.Split(strings.TrimSpace(r.out), "\n"); len(lines) != 3 || strings.Join(strings.Fields(lines[1])[:4], " ") != "polite claude #1 pass" || !strings.Contains(lines[2], "the agent could not start") {
		t.Errorf("%s", r.out)
	}
	again := grade("--json", dir)
	again.want(t, exitNotJudged, "answers of the judge: 0 asked for, 1 known before\n")
	if calls.Load() != 1 || !strings.Contains(again.out, `"judge":{"calls":0,"cached":1}`) || !strings.Contains(again.out, `"score":0.9`) {
		t.Errorf("%d calls: %s", calls.Load(), again.out)
	}
	if files, err := os.ReadDir(filepath.Join(dir, "judge")); err != nil || len(files) != 1 {
		t.Errorf("%v %v", files, err)
	}
	own := filepath.Join(t.TempDir(), "answers")
	grade("--judge-cache", own, dir).want(t, exitNotJudged, "answers of the judge: 1 asked for")
	if files, err := os.ReadDir(own); err != nil || len(files) != 1 {
		t.Errorf("%v %v", files, err)
	}
	r = grade("--no-judge", dir)
	r.want(t, exitNotJudged, "")
	if !strings.Contains(r.out, "skipped") || calls.Load() != 2 {
		t.Errorf("%d calls: %s", calls.Load(), r.out)
	}
	command(t, "", "eval", "grade", "--case", file(t, "x.yaml", "name: x\ngraders: [{type: errors}]"), dir).want(t, exitUsage, "no session of the results is of a case that --case names")
}

// A run asks the judge of its suite, and the answers are known when its results are judged again.
func TestEvalRunWithAJudge(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		fmt.Fprint(w, `{"choices":[{"message":{"content":"{\"score\":0.4,\"reason\":\"Hardly.\"}"}}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`)
	}))
	t.Cleanup(model.Close)
	suite := file(t, "suite.yaml", fmt.Sprintf("cases: [polite.yaml]\nagents: {demo: {adapter: demo, options: {pace: 1ms}}}\njudge: {model: small, endpoint: {url: '%s/v1'}}", model.URL))
	if err := os.WriteFile(filepath.Join(filepath.Dir(suite), "polite.yaml"), []byte("name: polite\nprompt: hello\ngraders: [{type: judge, rubric: Is polite.}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(filepath.Dir(suite), "suite.results")
	r := command(t, "", "eval", "run", suite)
	r.want(t, exitFailed, "answers of the judge: 1 asked for, 0 known before, 10 tokens")
	if !strings.Contains(r.out, "judge: the model's score is 0.4, and at least 0.7 passes: Hardly.") {
		t.Errorf("%s", r.out)
	}
	command(t, "", "eval", "grade", "--case", suite, out).want(t, exitFailed, "answers of the judge: 0 asked for, 1 known before\n")
	if calls.Load() != 1 {
		t.Errorf("the model was asked %d times", calls.Load())
	}
	text, err := os.ReadFile(suite)
	if err == nil {
		err = os.WriteFile(suite, bytes.Replace(text, []byte("small"), []byte("large"), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	command(t, "", "eval", "run", suite).want(t, exitFailed, "answers of the judge: 1 asked for") // another model is another run
	page := filepath.Join(out, "report.html")
	command(t, "", "eval", "report", "--html", page, out).want(t, exitOK, "")
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "<dt>Judge</dt><dd>1 asked for, 0 known before, 10 tokens</dd>") {
		t.Errorf("%v: %s", err, text)
	}
	command(t, "", "eval", "run", "--no-judge", "--out", filepath.Join(t.TempDir(), "out"), suite).want(t, exitNotJudged, "polite with demo, #1: skipped")
}
