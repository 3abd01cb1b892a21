package cli

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/policy/box"
)

func TestAgents(t *testing.T) {
	t.Parallel()
	works := file(t, "claude", "#!/bin/sh\necho '9.8.7 (Claude Code)'\n")
	breaks := file(t, "claude", "#!/bin/sh\nexit 3\n")
	conf := file(t, "tributary.yaml", `
default_agent: works
agents:
  demo:
  echo:
  runner:
  off: {adapter: claude, enabled: false}
  claude: {command: /no/such/claude}
  works: {adapter: claude, command: `+works+`}
  breaks: {adapter: claude, command: `+breaks+`}
`)
	r := command(t, "", "agents", "--config", conf, "--json")
	r.want(t, exitOK, "")
	var got []agentStatus
	if err := json.Unmarshal([]byte(r.out), &got); err != nil {
		t.Fatalf("%v: %s", err, r.out)
	}
	const configured = 6
	for _, s := range got[configured:] {
		if !strings.HasPrefix(s.Problem, "not configured: ") || s.Ready {
			t.Errorf("%+v", s)
		}
	}
	got = got[:configured]
	for i := range got {
		got[i].BoxReason = ""
		if got[i].Problem != "" { // the words are the adapter's
			got[i].Problem = "why"
		}
	}
	want := []agentStatus{
		{Name: "breaks", Adapter: "claude", Problem: "why", Box: boxHere()},
		{Name: "claude", Adapter: "claude", Problem: "why", Box: boxHere()},
		{Name: "demo", Adapter: "demo", Version: "built in", Ready: true},
		{Name: "echo", Adapter: "echo", Version: "built in", Ready: true},
		{Name: "runner", Adapter: "runner", Problem: "why"},
		{Name: "works", Adapter: "claude", Version: "9.8.7", Ready: true, Default: true, Box: boxHere()},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}

	row := "9.8.7 " + string(boxHere()) + " ready (default)"
	if why := box.Available(box.Guard); why != nil {
		row += "; its box is off: " + why.Error()
	}
	table := command(t, "", "agents", "--config", conf)
	table.want(t, exitOK, "")
	lines := strings.Split(table.out, "\n")
	if len(lines) < 8 || strings.Join(strings.Fields(lines[0]), " ") != "NAME ADAPTER VERSION BOX STATUS" ||
		!strings.Contains(lines[2], "/no/such/claude was not found") || !strings.HasSuffix(strings.Join(strings.Fields(lines[6]), " "), row) {
		t.Errorf("the table:\n%s", table.out)
	}
	several := command(t, "", "agents", "--config", file(t, "t.yaml", "agents: {x: {adapter: echo}, y: {adapter: echo}}"))
	several.want(t, exitOK, "") // a list needs no default
	if strings.Contains(several.out, "(default)") {
		t.Errorf("the table:\n%s", several.out)
	}
	command(t, "", "agents", "--config", file(t, "t.yaml", "agents: {x: {}}")).want(t, exitUsage, "agents.x has no adapter")
}

// boxHere is the box that agents get on this machine.
func boxHere() box.Form {
	if box.Available(box.Guard) != nil {
		return box.Off
	}
	return box.Guard
}

func TestAgentsWithoutConfiguration(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PATH", t.TempDir())
	r := command(t, "", "agents")
	r.want(t, exitOK, "")
	if !strings.Contains(r.out, "claude was not found on PATH: install it") || !strings.Contains(strings.Join(strings.Fields(r.out), " "), "demo demo built in - ready (default)") {
		t.Errorf("the table:\n%s", r.out)
	}
}

func TestVersionAndHelp(t *testing.T) {
	t.Parallel()
	r := command(t, "", "version")
	r.want(t, exitOK, "")
	if !strings.HasPrefix(r.out, "tributary ") || !strings.HasSuffix(r.out, " ("+runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH+")\n") {
		t.Errorf("printed %q", r.out)
	}
	for _, args := range [][]string{nil, {"--help"}, {"-h"}} {
		r := command(t, "", args...)
		r.want(t, exitOK, "")
		for _, name := range []string{"serve", "run", "convert", "agents", "version"} {
			if !strings.Contains(r.out, "\n  "+name) {
				t.Errorf("%v does not tell of %s:\n%s", args, name, r.out)
			}
		}
	}
	for _, name := range []string{"serve", "run", "convert", "agents", "version"} {
		command(t, "", name, "--help").want(t, exitOK, "")
	}
	command(t, "", "sevre").want(t, exitUsage, "unexpected argument sevre")
}

// TestExample reads the example as a user would.
func TestExample(t *testing.T) {
	t.Parallel()
	c, err := load(builtIn(), filepath.Join("..", "..", "examples", "tributary.yaml"), flags{cwd: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.agents(); err != nil {
		t.Fatal(err)
	}
}

// An agent has a strict box by default if it was tried in one, and more than one person uses the gateway.
func TestTheDefaultBoxOfAnAgent(t *testing.T) {
	t.Setenv("TRIBUTARY_TEST_TOKEN", "the-token-of-a-collaborator-0123456789")
	forms := func(conf, agents string) map[string]box.Form {
		t.Helper()
		var got []agentStatus
		r := command(t, "", "agents", "--json", "--config", file(t, "tributary.yaml", "cwd: "+t.TempDir()+"\ndata: "+t.TempDir()+"\n"+conf+"\nagents: "+agents+"\n"))
		if err := json.Unmarshal([]byte(r.out), &got); err != nil {
			t.Fatalf("%v: %s %s", err, r.out, r.errors)
		}
		found := map[string]box.Form{}
		for _, s := range got {
			if !strings.HasPrefix(s.Problem, "not configured: ") {
				found[s.Name] = s.Box
			}
		}
		return found
	}
	if err := box.Available(box.Strict); err != nil {
		t.Skip("no strict box can be had here: ", err)
	}
	const all = `{claude: {command: /no/such}, codex: {command: /no/such}, opencode: {command: /no/such}, claude-acp: {command: /no/such}, codex-acp: {command: /no/such},
  opencode-acp: {command: /no/such}, gemini: {command: /no/such}, kilo: {command: /no/such}, kilo-serve: {command: /no/such}, mine: {adapter: command, command: /no/such},
  far: {adapter: opencode, url: "http://127.0.0.1:9"}, named: {adapter: claude, command: /no/such, box: {form: guard}}, demo: {}}`
	want := map[string]box.Form{
		"claude": box.Strict, "claude-acp": box.Strict, "opencode": box.Strict, "opencode-acp": box.Strict, "codex": box.Guard, "codex-acp": box.Guard,
		"gemini": box.Strict, "kilo": box.Guard, "kilo-serve": box.Guard, "mine": box.Guard, "far": box.Guard, "named": box.Guard, "demo": "",
	}
	for _, conf := range []string{"auth: {tokens: [{name: ada, role: collaborator, token_env: TRIBUTARY_TEST_TOKEN}]}", "public_url: https://example.com", "listen: 0.0.0.0:0"} {
		if d := cmp.Diff(want, forms(conf, all)); d != "" {
			t.Errorf("%s: %s", conf, d)
		}
	}
	for name, form := range forms("", all) {
		if form != box.Guard && name != "demo" {
			t.Errorf("for one person %s is in %q", name, form)
		}
	}
	command(t, "", "serve", "--config", file(t, "tributary.yaml", "agents: {far: {adapter: opencode, url: 'http://127.0.0.1:9', box: {form: strict}}}")).
		want(t, exitUsage, "agents.far.box.form is strict, and the agent lives on the server that url names")
}
