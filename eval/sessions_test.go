package eval_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/export/atif"
	"github.com/tributary-dev/tributary/export/exporttest"
	"github.com/tributary-dev/tributary/trace"
)

// manyGraders are graders of all types that need no workspace.
const manyGraders = `- {type: output, contains: e}
- {type: output, not_contains: e}
- {type: output, equals: "Done.", required: false}
- {type: output, regex: "^[A-Z]"}
- {type: tools, calls: [{kind: read}]}
- {type: tools, calls: [{kind: execute, status: completed}]}
- {type: tools, match: exact, calls: [{kind: read}]}
- {type: tools, match: in_order, calls: [{kind: read}, {kind: edit}]}
- {type: tools, match: subset, calls: [{kind: read}, {kind: execute}]}
- {type: tools, not: true, calls: [{kind: delete}]}
- {type: tools, calls: [{name: "*", args: {file_path: /workspace/hello.txt}}]}
- {type: permission, asked: 1}
- {type: permission, kind: execute, denied: 0, allowed: 1}
- {type: permission, before_effect: true}
- {type: permission, kind: edit, must_ask: true}
- {type: question}
- {type: question, asked: 0, matches: colour}
- {type: outcome, completed: true}
- {type: outcome, reason: end_turn}
- {type: errors}
- {type: budget, tokens: 1000}
- {type: budget, cost_usd: 0.01}
- {type: budget, seconds: 10, waiting_seconds: 1}
- {type: budget, steps: 3, calls: 2, tool_errors: 0}`

type fataler interface {
	Fatalf(format string, args ...any)
	Context() context.Context
}

// judge holds what every finding has: a verdict, a sentence, and records of the session that show it.
func judge(t fataler, c *eval.Case, records []trace.Record, seen map[string]int) {
	s, err := eval.Read(exporttest.Durable(records))
	if err != nil {
		t.Fatalf("%v", err)
	}
	ids := map[string]bool{}
	for _, r := range records {
		ids[r.ID] = true
	}
	r := c.Grade(t.Context(), s, eval.Means{})
	seen[string(r.Verdict)]++
	if r.Verdict == eval.Errored {
		if r.Graders != nil || r.Reason == "" || len(s.Turns) > 0 && len(r.Evidence) == 0 {
			t.Fatalf("%+v", r)
		}
		return
	}
	if len(r.Graders) != len(c.Graders) {
		t.Fatalf("%+v", r)
	}
	for _, f := range r.Graders {
		seen[f.Type+" "+string(f.Verdict)]++
		if f.Verdict != eval.Passed && f.Verdict != eval.Failed && f.Verdict != eval.Unclear || f.Reason == "" || strings.Contains(f.Reason, "\n") {
			t.Fatalf("%+v", f)
		}
		if len(f.Evidence) == 0 {
			t.Fatalf("nothing shows %+v", f)
		}
		for _, id := range f.Evidence {
			if !ids[id] {
				t.Fatalf("there is no record %s: %+v", id, f)
			}
		}
	}
}

func TestEveryRecording(t *testing.T) {
	t.Parallel()
	c, seen := parse(t, manyGraders), map[string]int{}
	for path, records := range exporttest.Recorded(t, "../adapter") {
		t.Run(path, func(t *testing.T) { judge(t, c, records, seen) })
	}
	for _, verdict := range []string{"error", "fail"} {
		if seen[verdict] == 0 {
			t.Errorf("no recording is %s: %v", verdict, seen)
		}
	}
	for _, name := range []string{"output", "tools", "permission", "question", "outcome", "errors", "budget"} {
		for _, v := range []string{"pass", "fail"} {
			if seen[name+" "+v] == 0 {
				t.Errorf("in no recording is %s %s: %v", name, v, seen)
			}
		}
	}
}

func TestRandomSessions(t *testing.T) {
	t.Parallel()
	c, seen := parse(t, manyGraders), map[string]int{}
	rapid.Check(t, func(t *rapid.T) { judge(t, c, exporttest.Random(t), seen) })
}

// What a trajectory does not tell, nobody knows after its import.
func TestImportedSessions(t *testing.T) {
	t.Parallel()
	const trajectory = `{"schema_version":"ATIF-v1.7","session_id":"s","agent":{"name":"other","version":"2"},"steps":[
		{"step_id":1,"source":"user","message":"go"},
		{"step_id":2,"source":"agent","message":"Done.","tool_calls":[{"tool_call_id":"c","function_name":"Bash","arguments":{"command":"ls"}}],
		 "observation":{"results":[{"source_call_id":"c","content":"a.md"}]},"metrics":{"prompt_tokens":10,"completion_tokens":2}}]}`
	s := exporttest.NewSession()
	if err := atif.Read(t.Context(), strings.NewReader(trajectory), func(r trace.Record) error { s.Records = append(s.Records, r); return nil }); err != nil {
		t.Fatal(err)
	}
	expect(t, s, []expectation{
		{`{type: output, equals: Done.}`, eval.Passed, "stop", ""},
		{`{type: outcome, completed: true}`, eval.Unclear, "stop", "imported from ATIF"},
		{`{type: permission, asked: 0}`, eval.Unclear, "stop", ""},
		{`{type: question, asked: 0}`, eval.Unclear, "stop", ""},
		{`{type: errors}`, eval.Unclear, "stop", ""},
		{`{type: tools, calls: [{raw_name: Bash, args: {command: ls}}]}`, eval.Passed, "tool_call", ""},
		{`{type: tools, calls: [{raw_name: Bash, status: completed}]}`, eval.Unclear, "tool_call", ""},
		{`{type: tools, calls: [{raw_name: Bash, status: failed}]}`, eval.Unclear, "tool_call", ""},
		{`{type: tools, not: true, calls: [{kind: delete}]}`, eval.Unclear, "tool_call", ""},
		{`{type: budget, tokens: 12}`, eval.Passed, "usage", ""},
		{`{type: budget, tokens: 11}`, eval.Failed, "usage", ""},
		{`{type: budget, steps: 1, calls: 1}`, eval.Passed, "step tool_call", ""},
		{`{type: budget, seconds: 5}`, eval.Unclear, "stop", ""},
		{`{type: budget, waiting_seconds: 5}`, eval.Unclear, "stop", ""},
		{`{type: budget, tool_errors: 0}`, eval.Unclear, "stop", ""},
	})
}

// workspace is a fake one.
type workspace struct {
	files   fs.ReadFileFS
	changes []eval.Change
	status  map[string]int
	err     error
}

func (w workspace) ReadFile(_ context.Context, path string) ([]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	return w.files.ReadFile(path)
}

func (w workspace) Changes(context.Context) ([]eval.Change, error) { return w.changes, w.err }

func (w workspace) Run(_ context.Context, command string) (int, error) {
	return w.status[command], w.err
}

func TestWorkspace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("A river has a source.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, _ := os.DirFS(dir).(fs.ReadFileFS) // it is one
	w := workspace{
		files:   files,
		changes: []eval.Change{{Path: "README.md", Lines: 2}, {Path: "docs/de/a.md", Lines: 3}},
		status:  map[string]int{"false": 1},
	}
	s := read(t, work(t).Records)
	for _, c := range []struct {
		grader  string
		verdict eval.Verdict
		reason  string
	}{
		{`{type: file, path: README.md}`, eval.Passed, ""},
		{`{type: file, path: README.md, contains: "A river", not_contains: rivr}`, eval.Passed, ""},
		{`{type: file, path: README.md, contains: rivr}`, eval.Failed, `the file README.md does not have "rivr"`},
		{`{type: file, path: README.md, equals: A river has a source.}`, eval.Passed, ""},
		{`{type: file, path: README.md, exists: false}`, eval.Failed, "is there"},
		{`{type: file, path: LICENSE}`, eval.Failed, "is not there"},
		{`{type: file, path: LICENSE, contains: x}`, eval.Failed, "is not there"},
		{`{type: file, path: LICENSE, exists: false}`, eval.Passed, ""},
		{`{type: diff, only: [README.md, "docs/**"], max_lines: 5}`, eval.Passed, "5 lines changed in 2 files"},
		{`{type: diff, only: ["docs/*.md", "*.md"]}`, eval.Failed, `"docs/de/a.md" changed`},
		{`{type: diff, only: []}`, eval.Failed, `"README.md" changed`},
		{`{type: diff, max_lines: 4}`, eval.Failed, "5 lines changed"},
		{`{type: command, run: "true"}`, eval.Passed, ""},
		{`{type: command, run: "false"}`, eval.Failed, "the status 1"},
		{`{type: command, run: "false", exit: 1}`, eval.Passed, ""},
	} {
		c0 := parse(t, c.grader)
		f := c0.Grade(t.Context(), s, eval.Means{Workspace: w}).Graders[0]
		if f.Verdict != c.verdict || !strings.Contains(f.Reason, c.reason) {
			t.Errorf("%s: %+v", c.grader, f)
		}
		if f := c0.Grade(t.Context(), s, eval.Means{Workspace: workspace{err: errors.New("the disk is gone")}}).Graders[0]; f.Verdict != eval.Unclear || !strings.Contains(f.Reason, "the disk is gone") {
			t.Errorf("%s without a disk: %+v", c.grader, f)
		}
		if r := c0.Grade(t.Context(), s, eval.Means{}); r.Verdict != eval.Skipped || r.Graders[0].Verdict != eval.Skipped {
			t.Errorf("%s without a workspace: %+v", c.grader, r)
		}
	}
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	s := read(t, work(t).Records)
	var results []eval.Result
	for _, g := range []string{"{type: question}", "- {type: question, asked: 9, name: \"a<b\"}\n- {type: permission, before_effect: true}\n- {type: output, contains: x, required: false}", "{type: command, run: x}"} {
		results = append(results, parse(t, g).Grade(t.Context(), s, eval.Means{}))
	}
	results = append(results, parse(t, "{type: question}").Grade(t.Context(), &eval.Session{ID: "none"}, eval.Means{}))
	var out bytes.Buffer
	if err := eval.WriteJUnit(&out, results); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []struct {
			Name  string `xml:"name,attr"`
			Count string `xml:"tests,attr"`
			Fails string `xml:"failures,attr"`
			Skips string `xml:"skipped,attr"`
			Cases []struct {
				Class    string `xml:"classname,attr"`
				Name     string `xml:"name,attr"`
				Failures []struct {
					Type    string `xml:"type,attr"`
					Message string `xml:"message,attr"`
					Text    string `xml:",chardata"`
				} `xml:"failure"`
				Error   *struct{} `xml:"error"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(out.Bytes(), &doc); err != nil || len(doc.Suites) != 2 {
		t.Fatalf("%v\n%s", err, out.String())
	}
	a, b := doc.Suites[0], doc.Suites[1]
	got := strings.TrimSuffix(fmt.Sprintln(a.Name, a.Count, a.Fails, a.Skips, b.Name, b.Cases[0].Error != nil, a.Cases[0].Failures, a.Cases[2].Skipped != nil), "\n")
	if got != "fixer 3 1 1 unknown true [] true" || len(a.Cases[1].Failures) != 2 || a.Cases[1].Failures[0].Type != "a<b" || !strings.HasPrefix(a.Cases[1].Failures[1].Text, "turn-1.") || a.Cases[1].Name != "session" {
		t.Errorf("%s\n%s", got, out.String())
	}
}
