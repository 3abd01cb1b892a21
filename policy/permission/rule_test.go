package permission_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// scope is a workspace with links, and the tools of the in-process agent.
func scope(t *testing.T) permission.Scope {
	t.Helper()
	d := permissiontest.Workspace(t)
	for name, target := range map[string]string{"config": ".env", "sub/config": "../.env"} {
		if err := os.Symlink(target, filepath.Join(d.Path(), name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(d.Path(), ".env"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	return permission.Scope{Contains: d.Contains, Resolve: d.Resolve, Tools: toolkind.OpenAI()}
}

func called(tool, input string) trace.ToolCall {
	c := toolkind.OpenAI().Classify(tool, json.RawMessage(input))
	return trace.ToolCall{ToolCallID: "c", RawName: tool, Name: tool, ToolKind: c.Kind, Locations: c.Locations, Input: json.RawMessage(input)}
}

// judge is allow, deny or ask.
func judge(p permission.Policy, c trace.ToolCall, s permission.Scope) permission.Verdict {
	answer, decided := p.Decide(trace.PermissionRequest{RequestID: "r", Options: options()}, c, s)
	switch {
	case !decided:
		return permission.Ask
	case answer.Allowed():
		return permission.Allow
	}
	return permission.Deny
}

// A command pattern allows one simple command and nothing that a shell would make
// more of.
func TestCommandPatterns(t *testing.T) {
	t.Parallel()
	s := scope(t)
	allow := permission.Policy{Rules: []permission.Rule{{Commands: []string{"git status", "go test *", "ls -*", "cat *.md", "./scripts/*", "git log *", "npm run lint:*"}, Then: permission.Allow}}}
	for command, want := range map[string]bool{
		"git status": true, "  git \t status ": true, "git 'status'": true, `git "status"`: true, "go test": true, "go test ./... -race": true,
		"go test -run 'A|B' ./x": true, "ls -la": true, "cat README.md": true, "bash -lc 'git status'": true, `/bin/sh -c "go test ./x"`: true,
		`go test -run "a b"`: true, "./scripts/*": false, "git log -p": true, "/usr/bin/bash -c 'git status'": true, "npm run lint:all": true,

		"./bash -c 'git status'": false, "/tmp/bash -lc 'git status'": false, "sub/sh -c 'git status'": false, "cat ../secret.md": false,
		"cat /etc/secret.md": false, "cat sub/../../x.md": false, "git -c core.pager=id log": false, "git --exec-path=. log": false, "npm run lint:../x": false,

		"": false, "git": false, "git status -s": false, "git push": false, "gitstatus": false, "Git status": false, "lsx -la": false, "cat x": false,
		"git status; id": false, "git status;": false, "git status && id": false, "git status || id": false, "git status | sh": false,
		"git status & id": false, "git status &": false, "git status\nid": false, "git status\rid": false, "git status\x00": false,
		"go test $(id)": false, "go test `id`": false, "go test $HOME": false, "go test ${X}": false, `go test "$(id)"`: false, "go test \"`id`\"": false,
		"go test > /etc/passwd": false, "go test >> x": false, "go test < x": false, "go test 2>&1": false, "go test <(id)": false, "go test <<< x": false,
		"go test *": false, "go test ?": false, "go test [a]": false, "go test {a,b}": false, "go test ~": false, "go test \\; id": false, "go test 'a": false,
		`go test "a`: false, "go test # x": false, "go test !x": false, "(go test)": false, "{ go test; }": false, "X=1 go test": false, "PATH=. git status": false,
		"bash -lc 'git status; id'": false, "bash -lc git status": false, "bash -c 'git status' x": false, "bash -c 'X=1 git status'": false,
		"bash -lc \"bash -c 'id'\"": false, "env go test": false, "sudo go test": false, "go\u00a0test": false, "go test \u202e": false, "go test \uff1b id": false,
		"cat ../secret.md /etc/passwd": false, "'git status'": false, "ls": false,
	} {
		input, _ := json.Marshal(map[string]string{"command": command, "description": "x; y"})
		if got := judge(allow, called("bash", string(input)), s); (got == permission.Allow) != want {
			t.Errorf("%q: %s", command, got)
		}
	}
	for _, input := range []string{
		`{"command":["git","status"]}`, `{"command":"git status","cmd":"id"}`, `{"command":"git status","command":"id"}`, `{"command":"git status","cwd":"/tmp"}`,
		`{"command":"git status","shell":"evil"}`, `{"command":"git status","dangerouslyDisableSandbox":true}`, `{}`, `{"command":7}`, `{"command":{"x":"git status"}}`,
	} {
		if got := judge(allow, called("bash", input), s); got != permission.Ask {
			t.Errorf("%s: %s", input, got)
		}
	}
	// A relative path of a program names another program in another directory.
	for input, want := range map[string]permission.Verdict{
		`{"command":"./scripts/x","cwd":"sub"}`: permission.Ask, `{"command":"./scripts/x","cwd":"."}`: permission.Allow, `{"command":"./scripts/x","cwd":"sub/.."}`: permission.Allow,
	} {
		if got := judge(allow, called("bash", input), s); got != want {
			t.Errorf("%s: %s, want %s", input, got, want)
		}
	}
	for _, input := range []string{`{"command":"git status","cwd":"sub"}`, `{"command":"git status","timeout":3,"run_in_background":true}`} {
		if got := judge(allow, called("bash", input), s); got != permission.Allow {
			t.Errorf("%s: %s", input, got)
		}
	}
	if got := judge(allow, called("read_file", `{"path":"a.txt","command":"git status"}`), s); got != permission.Ask {
		t.Errorf("a read is taken for a command: %s", got)
	}
}

// A * in a word of a rule that allows stays within a name, and git takes no option that
// runs programs in front of its command.
func TestCommandPatternsDoNotClimb(t *testing.T) {
	t.Parallel()
	s := scope(t)
	allow := permission.Policy{Rules: []permission.Rule{{Commands: []string{"scripts/*.sh", "git *", "./tool-*"}, Then: permission.Allow}}}
	for command, want := range map[string]bool{
		"scripts/a.sh": true, "git log -p": true, "git status": true, "git commit -c x": true, "./tool-a": true,
		"scripts/../../tmp/evil.sh": false, "scripts/sub/a.sh": false, "scripts/../evil.sh": false, "./tool-a/../../evil": false, "git -c core.pager=id log": false,
		"git -C /tmp log": false, "git --config-env=core.pager=X log": false, "git '-c' alias.x=!id x": false, "/tmp/git status": false,
	} {
		input, _ := json.Marshal(map[string]string{"command": command})
		if got := judge(allow, called("bash", string(input)), s); (got == permission.Allow) != want {
			t.Errorf("%q: %s", command, got)
		}
	}
	deny := permission.Policy{Rules: []permission.Rule{{Commands: []string{"cat *.md", "git *"}, Then: permission.Deny}, {Then: permission.Allow}}}
	for _, command := range []string{"cat /etc/x.md", "cat ../x.md", "git -c core.pager=id log"} {
		input, _ := json.Marshal(map[string]string{"command": command})
		if got := judge(deny, called("bash", string(input)), s); got == permission.Allow {
			t.Errorf("%q: a rule that forbids does not see it", command)
		}
	}
}

// A rule that forbids asks where it cannot tell, even if a later rule allows all.
func TestCommandsThatAreForbidden(t *testing.T) {
	t.Parallel()
	s := scope(t)
	p := permission.Policy{Rules: []permission.Rule{{Commands: []string{"rm *"}, Then: permission.Deny}, {Then: permission.Allow}}}
	for command, want := range map[string]permission.Verdict{
		"rm -rf x": permission.Deny, "ls": permission.Allow, "ls; rm x": permission.Ask, "$(echo rm) x": permission.Ask,
	} {
		input, _ := json.Marshal(map[string]string{"command": command})
		if got := judge(p, called("bash", string(input)), s); got != want {
			t.Errorf("%q: %s, want %s", command, got, want)
		}
	}
}

func TestPathPatterns(t *testing.T) {
	t.Parallel()
	s := scope(t)
	p := permission.Policy{Rules: []permission.Rule{
		{Paths: []string{".env", "**/*.pem"}, Then: permission.Deny},
		{Kinds: []trace.ToolKind{trace.ToolEdit}, Paths: []string{"src/**", "*.md"}, Then: permission.Allow},
		{Kinds: []trace.ToolKind{trace.ToolSearch}, Paths: []string{"sub/**"}, Then: permission.Allow},
		{Kinds: []trace.ToolKind{trace.ToolRead}, Then: permission.Allow},
	}}
	for _, c := range []struct {
		tool, input string
		want        permission.Verdict
	}{
		{"read_file", `{"path":"a.txt"}`, permission.Allow},
		{"read_file", `{"path":".env"}`, permission.Deny},
		{"read_file", `{"path":"./sub/../.env"}`, permission.Deny},
		{"read_file", `{"path":".ENV"}`, permission.Deny},
		{"read_file", `{"path":"config"}`, permission.Deny},
		{"read_file", `{"path":"sub/config"}`, permission.Deny},
		{"read_file", `{"path":"a.txt","file_path":".env"}`, permission.Deny},
		{"read_file", `{"path":"a.txt","other":".env"}`, permission.Deny},
		{"read_file", `{"path":"deep/x/key.pem"}`, permission.Deny},
		{"read_file", `{"path":"key.pem"}`, permission.Deny},
		{"read_file", `{"path":"/etc/passwd"}`, permission.Allow}, // the last rule says so
		{"read_file", `{"path":["a.txt",".env"]}`, permission.Ask},
		{"read_file", `{"path":"~/.env"}`, permission.Ask},
		{"read_file", `{"path":".en*"}`, permission.Ask},
		{"read_file", `{"path":"deep/../sub/b.txt"}`, permission.Ask}, // two ways to read it
		{"write_file", `{"path":"src/new/x.go","content":"x"}`, permission.Allow},
		{"write_file", `{"path":"x.md","content":".env"}`, permission.Allow},
		{"write_file", `{"path":"sub/x.md","content":"x"}`, permission.Ask},
		{"write_file", `{"path":"src/../a.txt","content":"x"}`, permission.Ask},
		{"write_file", `{"path":"src/x.md","file_path":"a.txt","content":"x"}`, permission.Ask},
		{"write_file", `{"path":"outdir/x.md","content":"x"}`, permission.Ask},
		{"grep", `{"pattern":"x","path":"sub"}`, permission.Ask}, // **/*.pem may be below
		{"grep", `{"pattern":"x"}`, permission.Ask},
		{"bash", `{"command":"cat .env"}`, permission.Deny}, // as far as the words go
	} {
		if got := judge(p, called(c.tool, c.input), s); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.input, got, c.want)
		}
	}
	p.Rules[0].Paths = []string{".env"}
	for input, want := range map[string]permission.Verdict{
		`{"pattern":"x","path":"sub"}`: permission.Allow, `{"pattern":"x","path":"sub/in","include":"*.go"}`: permission.Allow, `{"pattern":"x"}`: permission.Ask,
		`{"pattern":"x","path":"src"}`: permission.Ask,
	} {
		if got := judge(p, called("grep", input), s); got != want {
			t.Errorf("grep %s: %s, want %s", input, got, want)
		}
	}
}

func TestPatternsThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	for _, r := range []permission.Rule{
		{Paths: []string{"/etc/**"}},
		{Paths: []string{"../x"}},
		{Paths: []string{"~/x"}},
		{Paths: []string{"a//b"}},
		{Paths: []string{""}},
		{Paths: []string{"{a,b}"}},
		{Paths: []string{"**/**/**/x"}},
		{Commands: []string{""}},
		{Commands: []string{"*"}},
		{Commands: []string{"a; b"}},
		{Commands: []string{"a $x"}},
	} {
		r.Then = permission.Allow
		if err := (permission.Policy{Rules: []permission.Rule{r}}).Validate(); err == nil {
			t.Errorf("%+v is valid", r)
		}
		if err := (permission.Policy{Script: []permission.Rule{r}}).Validate(); err == nil {
			t.Errorf("%+v is valid in a script", r)
		}
	}
	good := permission.Rule{Paths: []string{"src/**", "**/*.go", "a/?.md", "."}, Commands: []string{"go test *", "ls -*"}, Then: permission.Allow}
	if err := (permission.Policy{Rules: []permission.Rule{good}, Remember: permission.Remember{Scope: permission.GrantOnce, For: time.Hour}}).Validate(); err != nil {
		t.Error(err)
	}
	for _, m := range []permission.Remember{{Scope: "forever"}, {For: -1}} {
		if err := (permission.Policy{Remember: m}).Validate(); err == nil {
			t.Errorf("%+v is valid", m)
		}
	}
}

// A rule that forbids files sees them where a command or another tool names them in plain
// words. Such a rule is no fence: a program can find the file by other ways.
func TestForbiddenFilesOfCommandsAndOtherTools(t *testing.T) {
	t.Parallel()
	s := scope(t)
	p := permission.Policy{Rules: []permission.Rule{
		{Paths: []string{".env", "**/*.pem"}, Then: permission.Deny},
		{Commands: []string{"cat *", "curl *"}, Then: permission.Allow},
		{Tool: "mcp__fs__*", Then: permission.Allow},
	}}
	for _, c := range []struct {
		tool, input string
		want        permission.Verdict
	}{
		{"bash", `{"command":"cat a.txt"}`, permission.Allow},
		{"bash", `{"command":"cat .env"}`, permission.Deny},
		{"bash", `{"command":"cat ./sub/../.env a.txt"}`, permission.Deny},
		{"bash", `{"command":"cat sub/config"}`, permission.Deny},
		{"bash", `{"command":"bash -c 'cat .env'"}`, permission.Deny},
		{"bash", `{"command":"curl --cert=sub/key.pem x"}`, permission.Deny},
		{"mcp__fs__read", `{"path":"a.txt"}`, permission.Allow},
		{"mcp__fs__read", `{"path":".env"}`, permission.Deny},
		{"mcp__fs__read", `{"where":".ENV"}`, permission.Deny},
	} {
		if got := judge(p, called(c.tool, c.input), s); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.input, got, c.want)
		}
	}
	only := permission.Policy{Rules: []permission.Rule{{Paths: []string{"**"}, Then: permission.Allow}}}
	if got := judge(only, called("bash", `{"command":"cat a.txt"}`), s); got != permission.Ask {
		t.Errorf("a rule with paths allows a command: %s", got)
	}
}

// A script answers each call once, in its order; the rules judge the others.
func TestScript(t *testing.T) {
	t.Parallel()
	s := scope(t)
	s.Script = &permission.Script{}
	p := permission.Policy{
		Script: []permission.Rule{
			{Tool: "bash", Then: permission.Allow}, {Tool: "bash", Then: permission.Deny}, {Tool: "write_file", Then: permission.Ask},
		},
		Rules: []permission.Rule{{Kinds: []trace.ToolKind{trace.ToolEdit}, Then: permission.Allow}},
	}
	bash, write := called("bash", `{"command":"x"}`), called("write_file", `{"path":"a.txt","content":"x"}`)
	for i, c := range []struct {
		call trace.ToolCall
		want permission.Verdict
	}{
		{bash, permission.Allow}, {write, permission.Ask}, {bash, permission.Deny}, {bash, permission.Ask}, {write, permission.Allow},
	} {
		if got := judge(p, c.call, s); got != c.want {
			t.Errorf("call %d: %s, want %s", i+1, got, c.want)
		}
	}
}

// An answer names the rule that decided, so that a reader of the trace finds it in the configuration.
func TestAnAnswerNamesTheRuleThatDecided(t *testing.T) {
	t.Parallel()
	s := scope(t)
	s.Script = &permission.Script{}
	s.Closed = func(path string) bool { return strings.HasSuffix(path, "secret") }
	s.Holds = func(string) bool { return false }
	p := permission.Policy{
		Script: []permission.Rule{{Tool: "none", Then: permission.Deny}, {Tool: "bash", Then: permission.Allow}, {Tool: "bash", Then: permission.Deny}},
		Rules:  []permission.Rule{{Tool: "glob", Then: permission.Ask}, {Kinds: []trace.ToolKind{trace.ToolEdit}, Then: permission.Allow}, {Then: permission.Deny}},
	}
	for i, c := range []struct {
		call trace.ToolCall
		want string
	}{
		{called("bash", `{"command":"x"}`), "script[1]"},
		{called("bash", `{"command":"x"}`), "script[2]"},
		{called("bash", `{"command":"x"}`), "rules[2]"},
		{called("write_file", `{"path":"a.txt","content":"x"}`), "rules[1]"},
		{called("write_file", `{"path":"secret","content":"x"}`), ""}, // what is closed is denied without a rule
		{called("glob", `{"pattern":"*"}`), ""},                       // a person is asked
	} {
		answer, _ := p.Decide(trace.PermissionRequest{RequestID: "r", Options: options()}, c.call, s)
		if answer.Rule != c.want {
			t.Errorf("call %d: the rule is %q, want %q", i+1, answer.Rule, c.want)
		}
	}
}

func TestGrants(t *testing.T) {
	t.Parallel()
	s := scope(t)
	now := time.Unix(1000, 0)
	give := func(r permission.Remember, c trace.ToolCall) permission.Grant {
		return r.Give(permission.Policy{Remember: r}.Grant(c, s), "g", "ada", now)
	}
	bash := give(permission.Remember{}, called("bash", `{"command":"make"}`))
	write := give(permission.Remember{For: time.Hour}, called("write_file", `{"path":"a.txt","content":"x"}`))
	outside := give(permission.Remember{}, called("write_file", `{"path":"/etc/x","content":"x"}`))
	if bash.Scope != permission.GrantSession || bash.By != "ada" || !write.Inside || outside.Inside {
		t.Errorf("grants %+v, %+v, %+v", bash, write, outside)
	}
	for _, c := range []struct {
		name  string
		grant permission.Grant
		call  trace.ToolCall
		at    time.Time
		want  bool
	}{
		{"the same command", bash, called("bash", ` {"command": "make"} `), now, true},
		{"another command", bash, called("bash", `{"command":"make x"}`), now, false},
		{"the same command and more", bash, called("bash", `{"command":"make","cwd":"/tmp"}`), now, false},
		{"the same command, described in other words", bash, called("bash", `{"description":"Build","command":"make"}`), now, true},
		{"another command behind the same one", bash, called("bash", `{"command":"make","description":"x","command":"make x"}`), now, false},
		{"the same command in capital letters", bash, called("bash", `{"Command":"make"}`), now, false},
		{"no input", bash, called("bash", `{}`), now, false},
		{"no JSON", bash, called("bash", `{"command":"make"`), now, false},
		{"another tool", bash, called("shell", `{"command":"make"}`), now, false},
		{"another file", write, called("write_file", `{"path":"src/b.txt","content":"y"}`), now, true},
		{"a file outside", write, called("write_file", `{"path":"/etc/x","content":"y"}`), now, false},
		{"the home", write, called("write_file", `{"path":"~/.ssh/authorized_keys","content":"y"}`), now, false},
		{"a link", write, called("write_file", `{"path":"out","content":"y"}`), now, false},
		{"an hour later", write, called("write_file", `{"path":"a.txt","content":"x"}`), now.Add(time.Hour), false},
		{"the same file outside", outside, called("write_file", `{"path":"/etc/x","content":"x"}`), now, true},
		{"the same file outside, other content", outside, called("write_file", `{"path":"/etc/x","content":"y"}`), now, false},
		{"the same name of another kind", write, trace.ToolCall{RawName: "write_file", ToolKind: trace.ToolExecute, Input: json.RawMessage(`{"path":"a.txt","content":"x"}`)}, now, false},
	} {
		if got := c.grant.Covers(c.call, permission.Policy{}, s, c.at); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if answer, ok := bash.Answer(trace.PermissionRequest{RequestID: "r", Options: options()}); !ok || answer.OptionKind != trace.AllowOnce || answer.By != permission.ByGrant || answer.RequestID != "r" {
		t.Errorf("the answer is %+v, %v", answer, ok)
	}
}

// A rule that asks, or that may forbid, comes before every grant.
func TestAGrantDoesNotOverruleARule(t *testing.T) {
	t.Parallel()
	s := scope(t)
	p := permission.Policy{Rules: []permission.Rule{
		{Paths: []string{"infra/**"}, Then: permission.Ask},
		{Kinds: []trace.ToolKind{trace.ToolSearch}, Paths: []string{".env"}, Then: permission.Deny},
	}}
	now := time.Unix(1000, 0)
	here, infra := called("write_file", `{"path":"src/a.go","content":"x"}`), called("write_file", `{"path":"infra/prod.tf","content":"x"}`)
	below, all := called("grep", `{"pattern":"x","path":"sub"}`), called("grep", `{"pattern":"x"}`)
	for _, c := range []struct {
		name        string
		given, call trace.ToolCall
		want        bool
	}{
		{"another file", here, called("write_file", `{"path":"src/b.go","content":"y"}`), true},
		{"a file for which a rule asks", here, infra, false},
		{"the same call, for which a rule asks", infra, infra, false},
		{"another call than the one for which a rule asks", infra, here, false},
		{"a search that a rule may forbid", below, all, false},
	} {
		if got := p.Grant(c.given, s).Covers(c.call, p, s, now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// FuzzCommand: a command that a pattern allows has no character by which a shell does
// more, outside quotes.
func FuzzCommand(f *testing.F) {
	for _, s := range []string{"go test ./x", "go test 'a;b'", `go test "a" 'b'`, "go test;id", "go test $(x)", "bash -c 'go test x'", "go test \\"} {
		f.Add(s)
	}
	allow := permission.Policy{Rules: []permission.Rule{{Commands: []string{"go test *"}, Then: permission.Allow}}}
	s := permission.Scope{Tools: toolkind.OpenAI()}
	f.Fuzz(func(t *testing.T, command string) {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Skipf("the command has no JSON form: %v", err)
		}
		if judge(allow, called("bash", string(input)), s) != permission.Allow {
			return
		}
		var quote rune
		for _, r := range command {
			switch {
			case r == quote:
				quote = 0
			case quote == 0 && (r == '\'' || r == '"'):
				quote = r
			case quote == 0 && (r < ' ' && r != '\t' || r == ';' || r == '&' || r == '|' || r == '$' || r == '`' || r == '<' || r == '>' || r == '\\' || r == '(' || r == '~' || r == '*'):
				t.Fatalf("%q is allowed", command)
			case quote == '"' && (r == '$' || r == '`' || r == '\\'):
				t.Fatalf("%q is allowed", command)
			}
		}
	})
}
