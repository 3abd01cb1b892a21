package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/eval"
)

// twoCommands asks the demo agent for two commands, of which the policy denies one.
const twoCommands = `name: two-commands
prompt: both
agents: [demo]
graders:
  - {type: permission, kind: execute, asked: 2, denied: 1, allowed: 1}
  - {type: permission, kind: execute, must_ask: true}
  - {type: tools, match: in_order, calls: [{kind: execute, args: {command: "echo one"}, status: denied}, {kind: execute, args: {command: "echo two"}, status: completed}]}
  - {type: output, regex: "allowed to run it: echo two"}
  - {type: budget, tokens: 1, required: false}
  - {type: file, path: README.md}
`

const scripted = "default_agent: demo\nagents:\n  demo:\n    adapter: demo\n    options: {pace: 1ms}\n    policy:\n      script: [{kinds: [execute], then: deny, reason: not this one}]\n      rules: [{kinds: [execute], then: allow}]\n"

func TestEvalGrade(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, data, "--config", file(t, "t.yaml", scripted))
	for id, text := range map[string]string{"one": "both", "two": "hello"} {
		if status, body := s.do("POST", "/api/chat", chat(id, text)); status != 200 {
			t.Fatal(body)
		}
	}
	s.do("POST", "/api/sessions", `{"id":"none"}`)
	two, hello := file(t, "two.yaml", twoCommands), file(t, "hello.yaml", "name: hello\ngraders: [{type: output, contains: Hello}]")
	grade := func(args ...string) result {
		return command(t, "", s.at(data, append([]string{"eval", "grade"}, args...)...)...)
	}
	r := grade("--case", two, "one")
	r.want(t, exitOK, "")
	if lines := strings.Split(r.out, "\n"); len(lines) != 3 || strings.Join(strings.Fields(lines[0]), " ") != "CASE SESSION VERDICT REASON" || strings.Join(strings.Fields(lines[1]), " ") != "two-commands one pass" {
		t.Errorf("%s", r.out)
	}
	junit := filepath.Join(t.TempDir(), "junit.xml")
	r = grade("--case", two, "--case", hello, "--junit", junit, "one", "two", "none")
	r.want(t, exitFailed, "")
	for _, want := range []string{"two-commands  two      fail     permission: the agent asked 0 times, not 2 times", "two-commands  none     error    there is nothing to judge", "hello         one      fail"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%s\nlacks %s", r.out, want)
		}
	}
	if x, err := os.ReadFile(junit); err != nil || strings.Count(string(x), "<testcase ") != 6 || !strings.Contains(string(x), `<testsuite name="demo" tests="6"`) {
		t.Errorf("%v %s", err, x)
	}
	grade("--case", hello, "two", "none").want(t, 3, "")
	grade("--case", two, "nobody").want(t, 3, "there is no such session")

	// What cannot be read hides nothing else.
	broken := file(t, "broken.jsonl", "x\n")
	for _, sources := range [][]string{{"nobody", "two", broken}, {broken, "two", "nobody"}, {"two", "no/where.json", "nobody"}} {
		r = grade(append([]string{"--case", two, "--junit", junit}, sources...)...)
		r.want(t, exitFailed, "tributary: there is no such session")
		x, err := os.ReadFile(junit)
		if strings.Count(r.out, " error  ") != 2 || strings.Count(r.out, " fail  ") != 1 || err != nil || strings.Count(string(x), "<error ") != 2 {
			t.Errorf("%v: %s%s %v", sources, r.out, x, err)
		}
	}
	r = grade("--case", two, "one", broken, "nobody")
	r.want(t, exitUsage, "this is no record of a trace")
	if !strings.Contains(r.out, "two-commands  one") {
		t.Errorf("%s", r.out)
	}
	// The findings become scores of the last turn, and a second grading replaces the first one.
	r = grade("--case", two, "--case", hello, "--record", "one")
	r.want(t, exitFailed, "")
	grade("--case", two, "--record", "one").want(t, exitOK, "")
	_, body := s.do("GET", "/api/sessions/one/scores", "")
	for want, times := range map[string]int{`"verdict":`: 6, `"case":"two-commands","name":"permission~2","verdict":"pass"`: 1, `"case":"hello","name":"output","verdict":"fail"`: 1, `"name":"budget","verdict":"unknown"`: 1, `"reason":`: 6, `"evidence":[`: 6, `"name":"file"`: 0} {
		if strings.Count(body, want) != times {
			t.Errorf("%s is %d times, not %d, in\n%s", want, strings.Count(body, want), times, body)
		}
	}

	// The same session by a file, and by a trajectory, which does not tell all.
	dir := t.TempDir()
	records, trajectory := filepath.Join(dir, "all.jsonl"), filepath.Join(dir, "one.json")
	command(t, "", s.at(data, "export", "-o", records, "one", "two")...).want(t, exitOK, "")
	command(t, "", s.at(data, "export", "--format", "atif", "-o", trajectory, "one")...).want(t, exitOK, "")
	line := func(text string) (all []struct {
		eval.Result

		Source string
	},
	) {
		for one := range strings.Lines(text) {
			all = append(all, struct {
				eval.Result

				Source string
			}{})
			if err := json.Unmarshal([]byte(one), &all[len(all)-1]); err != nil {
				t.Fatalf("%v: %s", err, one)
			}
		}
		return all
	}
	remote, local := grade("--json", "--case", two, "one"), command(t, "", "eval", "grade", "--json", "--case", two, records)
	local.want(t, exitFailed, "")
	a, b := line(remote.out), line(local.out)
	if len(a) != 1 || len(b) != 2 || a[0].Source != "one" || b[0].Source != records || b[0].Session != "one" || b[0].Verdict != eval.Passed || b[1].Session != "two" || len(b[0].Graders) != 6 {
		t.Fatalf("%s\n%s", remote.out, local.out)
	}
	for i, f := range b[0].Graders {
		if got, _ := json.Marshal(a[0].Graders[i]); !strings.Contains(local.out, string(got)) {
			t.Errorf("by the gateway %s, and by the file %+v", got, f)
		}
	}
	grade("--case", two, "--record", records).want(t, exitUsage, "--record is for sessions of a running gateway, and "+records+" is a file")
	r = command(t, "", "eval", "grade", "--json", "--case", two, trajectory)
	r.want(t, exitFailed, "")
	if c := line(r.out); len(c) != 1 || c[0].Graders[0].Verdict != eval.Unclear || c[0].Graders[3].Verdict != eval.Passed {
		t.Errorf("%s", r.out)
	}
}

func TestEvalMistakes(t *testing.T) {
	t.Parallel()
	right, broken := file(t, "case.yaml", twoCommands), file(t, "bad.yaml", "name: x\ngraders: [{type: output, conatins: y}]")
	suite := file(t, "suite.yaml", "cases: [c*.yaml]\nagents: {demo: {adapter: demo}}")
	if err := os.WriteFile(filepath.Join(filepath.Dir(suite), "c.yaml"), []byte(twoCommands), 0o600); err != nil {
		t.Fatal(err)
	}
	r := command(t, "", "eval", "check", right, suite)
	r.want(t, exitOK, "")
	if !strings.Contains(r.out, "the case two-commands is right. Its graders: 6.") || !strings.Contains(r.out, "the suite is right. Its cases: 1, its agents: 1.") {
		t.Errorf("%s", r.out)
	}
	r = command(t, "", "eval", "check", right, broken)
	r.want(t, exitUsage, "bad.yaml:2: graders[0].conatins is not a key here: the keys are type, name, required, equals")
	if !strings.Contains(r.out, "two-commands is right") {
		t.Errorf("%s", r.out)
	}
	config := file(t, "tributary.yaml", "agents: {mine: {adapter: demo}}")
	if err := os.WriteFile(filepath.Join(filepath.Dir(suite), "k.yaml"), []byte("name: k\nprompt: go\ngraders: [{type: errors}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	for agents, want := range map[string]string{
		"{mine: {adapter: dmeo}}": ` agents.mine.adapter is "dmeo": write one of `,
		"{mine: {}}":              " agents.mine has no adapter: write one of ",
		"{demo: {url: x}}":        " agents.demo.url means nothing to the adapter demo: remove it",
	} {
		if err := os.WriteFile(suite, []byte("cases: [k.yaml]\nagents: "+agents), 0o600); err != nil {
			t.Fatal(err)
		}
		command(t, "", "eval", "check", suite).want(t, exitUsage, "suite.yaml:2:"+want)
		if agents == "{mine: {}}" {
			command(t, "", "eval", "check", "--config", config, suite).want(t, exitOK, "")
		}
	}
	command(t, "", "eval", "check", "nowhere.yaml").want(t, exitUsage, "the case cannot be read")
	judged := file(t, "judged.yaml", "name: judged\ngraders: [{type: judge, rubric: x}]")
	text, empty := file(t, "notes.txt", "hello\n"), file(t, "empty.jsonl", "\n")
	atif := file(t, "t.json", `{"schema_version":"ATIF-v2.0","steps":[]}`)
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{text}, exitUsage, "--case is missing: write --case FILE"},
		{[]string{"--case", broken, text}, exitUsage, "conatins is not a key here"},
		{[]string{"--case", suite, text}, exitUsage, "notes.txt:1: this is no record of a trace"},
		{[]string{"--case", judged, text}, exitUsage, "judged.yaml: graders[0] has no model and endpoint: write both there"},
		{[]string{"--case", right, t.TempDir()}, exitUsage, "results.jsonl cannot be read: no such file or directory: name the results of `tributary eval run`"},
		{[]string{"--case", right, "none/x.jsonl"}, exitUsage, "none/x.jsonl cannot be read: no such file"},
		{[]string{"--case", right, text}, exitUsage, "notes.txt:1: this is no record of a trace"},
		{[]string{"--case", right, file(t, "v2.jsonl", `{"v":2,"session":"s","turn":null,"seq":1,"id":"x","ts":"2026-01-01T00:00:00Z","type":"error","parent_id":null,"actor":"agent","payload":{}}`)}, exitUsage, "v2.jsonl:1: this is no record of a trace, and the file is no trajectory in ATIF: trace record x has version 2, this program reads up to 1: use a newer one"},
		{[]string{"--case", right, file(t, "by.jsonl", `{"v":1,"session":"s","turn":"t","seq":1,"id":"x","ts":"2026-01-01T00:00:00Z","type":"prompt","parent_id":null,"actor":"user","payload":{"by":{"id":1}}}`)}, exitUsage, "read a prompt payload: its by is an object, and a text belongs there"},
		{[]string{"--case", right, file(t, "atif.json", `{"schema_version":"ATIF-v1.7","steps":{}}`)}, exitUsage, "atif.json: this is no trajectory in ATIF: its steps is an object, and a list belongs there"},
		{[]string{"--case", right, empty}, exitUsage, "has no records"},
		{[]string{"--case", right, atif}, exitUsage, "this is no trajectory in ATIF 1"},
		{[]string{"--case", right, "--url", "http://127.0.0.1:1", "--token-file", file(t, "token", "x"), "one"}, 3, "there is no gateway at"},
	} {
		command(t, "", append([]string{"eval", "grade"}, c.args...)...).want(t, c.status, c.want)
	}
}

// A file of records may be out of order, joined with itself, or begin with a mark of its encoding.
// What contradicts itself is an error of that session.
func TestEvalGradesFilesAsTheyCome(t *testing.T) {
	t.Parallel()
	converted := command(t, "", "convert", "--from", "claude", "--to", "trace", filepath.Join(recordings, "tool.jsonl"))
	converted.want(t, exitOK, "")
	lines := slices.Collect(strings.Lines(converted.out))
	reversed := slices.Clone(lines)
	slices.Reverse(reversed)
	oneCase := file(t, "case.yaml", "name: c\ngraders: [{type: budget, calls: 1}, {type: tools, not: true, calls: [{kind: delete}]}]")
	grade := func(text string) result {
		return command(t, "", "eval", "grade", "--json", "--case", oneCase, file(t, "x.jsonl", text))
	}
	want := grade(converted.out)
	want.want(t, exitOK, "")
	verdict := func(r result) string { before, _, _ := strings.Cut(r.out, `"source"`); return before }
	for name, text := range map[string]string{"in another order": strings.Join(reversed, ""), "twice": converted.out + converted.out, "with a mark": "\ufeff" + converted.out} {
		if r := grade(text); r.status != exitOK || verdict(r) != verdict(want) {
			t.Errorf("%s: %s%s", name, r.out, r.errors)
		}
	}
	other := strings.ReplaceAll(converted.out, `"session":"`, `"session":"other-`)
	r := grade(converted.out + strings.Replace(other, `"seq":3,`, `"seq":2,`, 1))
	r.want(t, exitUsage, "two records of the session have the number 2")
	if verdict(r) != verdict(want) || strings.Count(r.out, "\n") != 2 {
		t.Errorf("%s", r.out)
	}
	r = grade(strings.Replace(converted.out, `"type":"`, `"type":5,"x":"`, 1))
	r.want(t, exitUsage, "its type is a number, and a text belongs there")
}
