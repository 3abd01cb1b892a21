package eval_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/export/exporttest"
	"github.com/tributary-dev/tributary/trace"
)

const wholeCase = `name: whole
turns: [fix it, "and now this"]
workspace: {source: ../ws, setup: ["git init -q"]}
agents: [fixer]
permissions:
  script: [{tool: shell, then: deny, reason: not this one}]
  rules: [{kinds: [execute], commands: ["git log *"], then: allow}, {then: deny, reason: not listed in the case}]
answers: [{question: Which colour, choose: green}]
tags: [quick]
repeats: 3
limits: {time: 20s, tokens: 20000, cost_usd: 0.5, steps: 30}
pass: {min_rate: 0.8}
unknown: skip
graders:
  - {type: output, name: says so, required: false, equals: a, contains: b, icontains: c, not_contains: d, regex: "e+"}
  - {type: tools, match: in_order, calls: [{kind: read, name: "R*", raw_name: Read, status: completed, args: {file: a.md, n: 1, list: [1, a, true]}}]}
  - {type: tools, not: true, calls: [{kind: delete}]}
  - {type: permission, kind: execute, tool: Bash, asked: 2, denied: 1, allowed: 1, before_effect: true, must_ask: true}
  - {type: question, asked: 0, matches: colour}
  - {type: outcome, completed: true, reason: end_turn}
  - {type: errors}
  - {type: budget, tokens: 1, cost_usd: 0.05, seconds: 2, waiting_seconds: 1.5, steps: 3, calls: 4, tool_errors: 0}
  - {type: file, path: docs/a.md, contains: x}
  - {type: file, path: b.md, exists: false}
  - {type: diff, only: ["docs/**"], max_lines: 8}
  - {type: command, run: make test, exit: 1}
  - {type: judge, rubric: It is polite., score_min: 0.8, model: m, endpoint: {url: "https://models.example/v1", key: "env:KEY", allow_http: false}}
judge: {model: m, endpoint: {url: "http://127.0.0.1:1/v1"}}
`

const wholeSuite = `cases: [cases/*.yaml]
agents:
  fixer: {adapter: command, command: ./agent.sh, env: {FLAKY: "1"}}
repeats: 3
limits: {time: 20s}
pass: {pass_k: 2}
unknown: fail
`

func TestParse(t *testing.T) {
	t.Parallel()
	c, s, err := eval.Parse("a.yaml", []byte(wholeCase))
	if err != nil || s != nil || len(c.Graders) != 13 || c.Limits.Time.Seconds() != 20 || c.Permissions.Rules[0].Commands[0] != "git log *" || c.Answers[0].Choose != "green" || c.Unknown != eval.UnknownSkips || c.Pass.MinRate != 0.8 {
		t.Errorf("%+v %v", c, err)
	}
	c, s, err = eval.Parse("s.yaml", []byte(wholeSuite))
	if err != nil || c != nil || s.Agents["fixer"] == nil || s.Pass.K != 2 {
		t.Errorf("%+v %v", s, err)
	}
}

// Each fault is one sentence, at its line.
func TestFaults(t *testing.T) {
	t.Parallel()
	const head = "name: one\ngraders:\n"
	for _, c := range []struct{ text, want string }{
		{"", "a.yaml: the file is empty: write a case or a suite"},
		{"name: [", "a.yaml:1: the YAML cannot be read: "},
		{"name: one\n---\nname: two", "a.yaml:3: a second document begins here"},
		{"- a", "a.yaml:1: the file is a list: write keys and values"},
		{"name: one\npromt: x", "a.yaml:2: promt is not a key here: the keys are repeats, limits, pass, unknown, judge, name, prompt, turns"},
		{"name: one\nname: two", "a.yaml:2: the YAML cannot be read: "},
		{"prompt: x\ngraders: [{type: errors}]", "a.yaml: name is missing"},
		{"name: one", "a.yaml: graders is missing"},
		{"name: 12\ngraders: []", `a.yaml:1: name is 12: write text, in quotation marks`},
		{"name: one\nprompt:", "a.yaml:2: prompt has no value"},
		{"name: one\nprompt: &a x", "a.yaml:2: prompt uses an anchor"},
		{"name: one\nrepeats: many", `a.yaml:2: repeats is "many": write a whole number`},
		{"name: one\nrepeats: -1", `a.yaml:2: repeats is -1: write a whole number`},
		{"name: one\nlimits: {time: 20}", `a.yaml:2: limits.time is 20: write a duration`},
		{"name: one\nlimits: {cost_usd: x}", `a.yaml:2: limits.cost_usd is "x": write a number`},
		{"name: one\nlimits: {cost_usd: -0.5}", `a.yaml:2: limits.cost_usd is -0.5: write a number`},
		{"name: one\ntags: quick", `a.yaml:2: tags is "quick": write a list`},
		{"name: one\nunknown: maybe", `a.yaml:2: unknown is "maybe": write fail or skip`},
		{"name: one\npermissions:\n  rules: [{kinds: [exec], then: allow}]", `a.yaml:3: permissions.rules[0].kinds[0] is "exec": write read, edit`},
		{"name: one\npermissions:\n  rules: [{then: allow, tols: x}]", `a.yaml:3: permissions.rules[0].tols is not a key here: the keys are kinds, tool`},
		{"name: one\nprompt: x\nturns: [y]\ngraders: [{type: errors}]", "a.yaml:3: turns stands beside prompt"},
		{"name: one\npass: {}\ngraders: [{type: errors}]", "needs min_rate or pass_k"},
		{"name: one\npass: {min_rate: 80}\ngraders: [{type: errors}]", "a.yaml:2: pass.min_rate is more than 1"},
		{"name: one\nanswers: [{question: x}]\ngraders: [{type: errors}]", "a.yaml:2: answers[0] needs question and choose"},
		{"name: one\npermissions: {rules: [{tool: x}]}\ngraders: [{type: errors}]", "a.yaml:2: permissions cannot be meant: permission rule 1"},
		{head + "  - errors", `a.yaml:3: graders[0] has no type: write type: and one of output, tools`},
		{head + "  - {type: jury}", `a.yaml:3: graders[0].type is "jury": write output, tools, permission, question, outcome, errors, budget, file, diff, command or judge`},
		{head + "  - {type: errors}\n  - type: output\n    tokens: 3", "a.yaml:5: graders[1].tokens is not a key here: the keys are type, name, required, equals, contains"},
		{head + "  - {type: output}", "a.yaml:3: graders[0] says nothing: write equals"},
		{head + "  - {type: output, regex: '('}", "a.yaml:3: graders[0].regex is no regular expression of Go: missing closing"},
		{head + "  - {type: output, required: 'no', contains: x}", `a.yaml:3: graders[0].required is "no": write true or false`},
		{head + "  - {type: question, matches: '('}", "graders[0].matches is no regular expression"},
		{head + "  - {type: outcome}", "graders[0] says nothing: write completed"},
		{head + "  - {type: budget}", "graders[0] says nothing: write tokens"},
		{head + "  - {type: permission, kind: execute}", "graders[0] says nothing: write asked"},
		{head + "  - {type: tools}", "graders[0].calls is missing"},
		{head + "  - {type: tools, calls: [{}]}", "graders[0].calls[0] says nothing"},
		{head + "  - {type: tools, not: true, match: exact, calls: [{kind: read}]}", "graders[0].match stands beside not"},
		{head + "  - {type: tools, calls: [{args: {n: .inf}}]}", "graders[0].calls[0].args has a value that JSON does not have"},
		{head + "  - {type: tools, calls: [{args: x}]}", `graders[0].calls[0].args is "x": write keys and values`},
		{head + "  - {type: tools, calls: [{status: done}]}", `graders[0].calls[0].status is "done": write completed, failed, denied or canceled`},
		{head + "  - {type: tools, calls: [{args: {a: &a [x, x], b: [*a, *a]}}]}", "graders[0].calls[0].args.a uses an anchor, an alias or a tag: write the value itself"},
		{head + "  - {type: tools, calls: [{args: {}}]}", "graders[0].calls[0] says nothing"},
		{head + "  - {type: command, run: x, exit: 300}", "graders[0].exit is more than 255"},
		{"name: ' '\ngraders: [{type: errors}]", "a.yaml:1: name is missing"},
		{head + "  - {type: file}", "graders[0].path must be the path of a file"},
		{head + "  - {type: file, path: ../x}", "graders[0].path must be the path of a file"},
		{head + "  - {type: file, path: x, exists: false, contains: y}", "graders[0].exists is false"},
		{head + "  - {type: diff}", "graders[0] says nothing: write only"},
		{head + "  - {type: diff, only: ['[']}", "graders[0].only[0] is no pattern"},
		{head + "  - {type: command}", "graders[0].run is missing"},
		{head + "  - {type: judge}", "graders[0].rubric is missing"},
		{head + "  - {type: judge, rubric: x, score_min: 0}", "graders[0].score_min must be above 0"},
		{head + "  - {type: judge, rubric: x, score_min: 1.1}", "graders[0].score_min must be above 0 and at most 1"},
		{head + "  - {type: judge, rubric: " + strings.Repeat("x", 16<<10+1) + "}", "graders[0].rubric is longer than 16 KB"},
		{head + "  - {type: judge, rubric: x, endpoint: {url: models}}", "graders[0].endpoint.url is no address"},
		{head + "  - {type: judge, rubric: x, endpoint: {url: 'https://a:b@models.example'}}", "graders[0].endpoint.url has a password"},
		{head + "  - type: judge\n    rubric: x\n    endpoint: {url: 'https://models.example',\n      key: sk-123}", "a.yaml:6: graders[0].endpoint.key must name an environment variable"},
		{"name: one\njudge:\n  endpoint: {url: ftp://x}\ngraders: [{type: errors}]", "a.yaml:3: judge.endpoint.url is no address"},
		{"cases: [a.yaml]", "a.yaml: agents is missing"},
		{"agents: {a: {}}", "a.yaml: cases is missing"},
		{"cases: []\nagents: {a: {}}", "a.yaml:1: cases is missing"},
		{"cases: [a.yaml]\nprompt: x", "a.yaml:2: prompt is not a key here: the keys are repeats, limits, pass, unknown, judge, agents, cases"},
	} {
		_, _, err := eval.Parse("a.yaml", []byte(c.text))
		var f *eval.Fault
		if !errors.As(err, &f) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, not %s", c.text, err, c.want)
		}
	}
	if _, _, err := eval.Load(filepath.Join(t.TempDir(), "none.yaml")); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Error(err)
	}
}

func TestCasesOfASuite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("a.yaml", "name: a\nagents: [fixer]\ngraders: [{type: errors}]")
	write("b.yaml", "name: b\ngraders: [{type: errors}]")
	for _, c := range []struct{ cases, also, want string }{
		{"[a.yaml, b.yaml]", "", ""},
		{"['?.yaml']", "", ""},
		{"[c.yaml]", "", `cases[0] is "c.yaml", and there is no such file`},
		{"[a.yaml, bad.yaml]", "name: c\nx: 1", "bad.yaml:2: x is not a key here"},
		{"[bad.yaml]", "name: c\nagents: [gone]\ngraders: [{type: errors}]", `agents has "gone", and the suite does not`},
		{"[bad.yaml, b.yaml]", "name: b\ngraders: [{type: errors}]", `another case of the suite is named "b"`},
		{"[suite.yml]", "", "the file is a suite"},
	} {
		write("bad.yaml", c.also)
		path := write("suite.yml", "cases: "+c.cases+"\nagents: {fixer: {adapter: demo}}")
		_, s, err := eval.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := s.LoadCases(path)
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v", c.cases, err)
		case c.want == "" && (err != nil || len(cases) != 2 || cases[0].Name != "a"):
			t.Errorf("%s: %v %v", c.cases, cases, err)
		}
	}
}

// A judge takes from its case, and the case from its suite, what it does not name itself.
func TestTheModelOfAJudge(t *testing.T) {
	t.Parallel()
	const own, endpoint = "own", "{url: 'https://models.example/v1'}"
	for _, c := range []struct{ suite, of, grader, want string }{
		{"judge: {model: s, endpoint: " + endpoint + "}", "", "", "s"},
		{"judge: {model: s, endpoint: " + endpoint + "}", "judge: {model: c}", "", "c"},
		{"judge: {endpoint: " + endpoint + "}", "judge: {model: c}", "model: own", own},
		{"", "judge: {model: c, endpoint: " + endpoint + "}", "", "c"},
		{"", "", "model: own, endpoint: " + endpoint, own},
		{"judge: {model: s}", "", "", ""},
		{"judge: {endpoint: " + endpoint + "}", "", "", ""},
		{"", "", "model: own", ""},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"c.yaml":     "name: c\n" + c.of + "\ngraders:\n- {type: errors}\n- {type: judge, rubric: x, " + c.grader + "}",
			"suite.yaml": "cases: [c.yaml]\nagents: {demo: {adapter: demo}}\n" + c.suite,
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join(dir, "suite.yaml")
		_, s, err := eval.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := s.LoadCases(file)
		if c.want == "" {
			if err == nil || !strings.Contains(err.Error(), "c.yaml: graders[1] has no model and endpoint: write both there") {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		var asked asking
		done := exporttest.NewSession()
		done.Turn(t.Context(), "go", completed(), func(*trace.Builder) {})
		if r := cases[0].Grade(t.Context(), read(t, done.Records), eval.Means{Judge: &asked}); r.Verdict != eval.Passed || asked.q.Model != c.want || asked.q.Endpoint.URL != "https://models.example/v1" {
			t.Errorf("%+v: %+v asked with %+v", c, r, asked.q)
		}
	}
}

// asking is a judge that notes what it was asked.
type asking struct{ q eval.JudgeQuestion }

func (a *asking) Judge(_ context.Context, q eval.JudgeQuestion) (eval.JudgeAnswer, error) {
	a.q = q
	return eval.JudgeAnswer{Score: 1, Reason: "yes"}, nil
}

// keysAt is what a fault says of the keys that may stand in a place of a file.
func keysAt(t *testing.T, text string) []string {
	t.Helper()
	_, _, err := eval.Parse("a.yaml", []byte(text))
	_, list, found := strings.Cut(err.Error(), "the keys are ")
	if !found {
		t.Fatalf("%q: %v", text, err)
	}
	keys := strings.Split(list, ", ")
	slices.Sort(keys)
	return keys
}

func properties(s *jsonschema.Schema) (keys []string) {
	for k := range s.Properties {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// The published schema has the keys and the words of the program.
func TestTheSchemaIsThatOfTheProgram(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/schemas/eval-case.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	const head = "name: one\ngraders:\n"
	places := map[string]*jsonschema.Schema{
		"no: 1":                                    &s,
		"cases: [a]\nno: 1":                        s.Defs["suite"],
		"workspace: {no: 1}":                       s.Properties["workspace"],
		"permissions: {no: 1}":                     s.Properties["permissions"],
		"permissions: {rules: [{no: 1}]}":          s.Defs["rule"],
		"permissions: {remember: {no: 1}}":         s.Properties["permissions"].Properties["remember"],
		"answers: [{no: 1}]":                       s.Properties["answers"].Items,
		"limits: {no: 1}":                          s.Defs["limits"],
		"pass: {no: 1}":                            s.Defs["pass"],
		"judge: {no: 1}":                           s.Defs["judge"],
		"judge: {endpoint: {no: 1}}":               s.Defs["endpoint"],
		head + "- {type: tools, calls: [{no: 1}]}": s.Defs["call"],
	}
	for _, name := range eval.Types() {
		places[head+"- {type: "+name+", no: 1}"] = s.Defs["grader."+name]
	}
	for text, at := range places {
		if at == nil {
			t.Errorf("%q: the schema has no such place", text)
			continue
		}
		if keys := keysAt(t, text); !slices.Equal(keys, properties(at)) {
			t.Errorf("%q: the program has %q, and the schema %q", text, keys, properties(at))
		}
		if at.AdditionalProperties == nil || at.AdditionalProperties.Not == nil {
			t.Errorf("%q: the schema allows other keys", text)
		}
	}
	for text, enum := range map[string][]any{
		head + "- {type: no}":                           s.Defs["grader"].Properties["type"].Enum,
		head + "- {type: tools, match: no}":             s.Defs["grader.tools"].Properties["match"].Enum,
		head + "- {type: tools, calls: [{kind: no}]}":   s.Defs["kind"].Enum,
		head + "- {type: tools, calls: [{status: no}]}": s.Defs["call"].Properties["status"].Enum,
		"unknown: no":                        s.Defs["unknown"].Enum,
		"permissions: {rules: [{then: no}]}": s.Defs["rule"].Properties["then"].Enum,
	} {
		_, _, err := eval.Parse("a.yaml", []byte(text))
		_, list, _ := strings.Cut(err.Error(), ": write ")
		var listed []string
		for _, v := range enum {
			listed = append(listed, v.(string))
		}
		if words := regexp.MustCompile(`, | or `).Split(list, -1); !slices.Equal(words, listed) {
			t.Errorf("%q: the program has %q, and the schema %q", text, words, listed)
		}
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		ok   bool
	}{{wholeCase, true}, {strings.Replace(wholeCase, "asked: 2", "asked: two", 1), false}, {strings.Replace(wholeCase, "name: says", "nmae: says", 1), false}, {strings.Replace(wholeCase, "type: errors", "type: jury", 1), false}, {"name: one\n", false}} {
		var v any
		if err := yaml.Unmarshal([]byte(c.text), &v); err != nil {
			t.Fatal(err)
		}
		data, _ := json.Marshal(v) // it has no other values
		v = nil
		_ = json.Unmarshal(data, &v)
		_, _, parsed := eval.Parse("a.yaml", []byte(c.text))
		if err := resolved.Validate(v); (err == nil) != c.ok || (parsed == nil) != c.ok {
			t.Errorf("%.60q: the schema says %v, and the program %v", c.text, err, parsed)
		}
	}
}

// A file that makes no sense gives an error, and nothing worse.
func TestNonsense(t *testing.T) {
	t.Parallel()
	pieces := strings.Split("name|: |\n|- |{|}|[|]|graders|type|tools|calls|args|&a |*a|<<|!!int |? |>|\"|'|#|  |1|null|~|,|agents|cases|permissions|rules|then|\x00|é|---\n|limits|time|.inf|0x1", "|")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 25).Draw(t, "pieces"), "")
		if c, s, err := eval.Parse("a.yaml", []byte(text)); err == nil && (c == nil || c.Name == "") && s == nil {
			t.Fatalf("%q is nothing", text)
		}
	})
}
