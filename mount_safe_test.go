package tributary_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary"
	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/adapter/acp"
	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/adapter/codex"
	"github.com/tributary-dev/tributary/adapter/command"
	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/adapter/openai"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/toolloop/mcptool"
	"github.com/tributary-dev/tributary/policy/workspace/spaces"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/session/agentset"
)

// unknown is an agent of the server's own that says nothing of itself.
type unknown struct{ agent.Runtime }

// wrapped is an agent of the library in one of the server's own.
type wrapped struct{ command.Runtime }

// ada is the person of every request.
func ada(*http.Request) (access.Principal, bool) {
	return access.Principal{ID: "ada", Name: "Ada", Role: access.Collaborator}, true
}

// A gateway that is made by the library refuses what the program refuses, with its sentences.
func TestAMountedGatewayRefusesWhatTheProgramRefuses(t *testing.T) {
	t.Setenv("THE_SECRET", "hunter2")
	cwd := t.TempDir()
	key := filepath.Join(cwd, "key.pem")
	if err := os.WriteFile(key, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	runs := func(r agent.Runtime) tributary.Options {
		return tributary.Options{Sessions: session.Options{Agents: map[string]session.Agent{"it": {Runtime: r, Cwd: cwd}}}}
	}
	set := func(a agentset.Agent) tributary.Options {
		a.Cwd = cwd
		return tributary.Options{Agents: map[string]agentset.Agent{"it": a}}
	}
	with := func(o tributary.Options, change func(*tributary.Options)) tributary.Options {
		change(&o)
		return o
	}
	inside := func(o *tributary.Options) { o.Dir = filepath.Join(cwd, "data") }
	above := func(o *tributary.Options) { o.Dir = filepath.Dir(cwd) }
	holds := func(o *tributary.Options) { o.Sessions.Closed = []string{key} }
	secret := func(o *tributary.Options) { o.SecretEnv = []string{"THE_SECRET"} }
	pi, _ := acp.FindPreset("pi")
	const (
		overlaps = "overlap, so the agent could read the gateway's token and all sessions: choose another Dir or another Cwd"
		unasked  = "key.pem lies in the workspace " // and so on
		bypasses = "by which the agent acts without asking: remove it and write a policy"
	)
	for name, c := range map[string]struct {
		o    tributary.Options
		want string
	}{
		"the log in the workspace":              {with(runs(command.Runtime{Command: "sh"}), inside), overlaps},
		"the log in that of an unknown agent":   {with(runs(unknown{}), inside), overlaps},
		"the workspace in the log's directory":  {with(runs(claude.Runtime{}), above), overlaps},
		"the log in that of an adapter's agent": {with(set(agentset.Agent{Kind: claude.Adapter()}), inside), overlaps},
		"a secret for a program":                {with(runs(command.Runtime{Command: "sh"}), holds), unasked},
		"a secret for Codex":                    {with(runs(codex.Runtime{}), holds), unasked},
		"a secret for an unknown agent":         {with(runs(unknown{}), holds), unasked},

		"a secret of another agent": {with(runs(openai.Runtime{TokenFile: key}), func(o *tributary.Options) {
			o.Agents = map[string]agentset.Agent{"other": {Kind: codex.Adapter(), Cwd: cwd}}
		}), unasked},
		"an argument":                         {runs(claude.Runtime{Args: []string{"--dangerously-skip-permissions"}}), bypasses},
		"an argument of an interpreter":       {runs(claude.Runtime{Command: "node", Script: []string{"a.js", "--yolo"}}), bypasses},
		"an argument of a program":            {runs(command.Runtime{Command: "codex", Args: []string{"exec", "--full-auto"}}), bypasses},
		"a variable":                          {runs(acp.Runtime{Command: "goose", Env: []string{"GOOSE_MODE=auto"}}), bypasses},
		"an argument of an adapter's agent":   {set(agentset.Agent{Kind: codex.Adapter(), Settings: agent.Settings{Args: []string{"--full-auto"}}}), bypasses},
		"an agent that asks nobody":           {runs(acp.Runtime{Preset: pi, Command: "pi-acp"}), "runs every command unasked"},
		"a secret variable":                   {with(runs(codex.Runtime{Env: []string{"THE_SECRET=x"}}), secret), "hands the variable THE_SECRET to its processes, which holds a secret of the gateway"},
		"a secret variable that is passed on": {with(set(agentset.Agent{Kind: codex.Adapter(), PassEnv: []string{"THE_SECRET"}}), secret), "pass_env names THE_SECRET, which holds a secret of the gateway"},
		"the token of another agent": {with(runs(openai.Runtime{TokenEnv: "THE_SECRET"}), func(o *tributary.Options) {
			o.Agents = map[string]agentset.Agent{"other": {Kind: codex.Adapter(), Cwd: cwd, PassEnv: []string{"THE_SECRET"}}}
		}), "agents.other.pass_env names THE_SECRET"},
		"a variable of an option": {with(runs(openai.Runtime{Options: openai.Options{MCP: map[string]mcptool.Server{"x": {TokenEnv: "THE_SECRET"}}}}), func(o *tributary.Options) {
			o.Agents = map[string]agentset.Agent{"other": {Kind: codex.Adapter(), Cwd: cwd, PassEnv: []string{"THE_SECRET"}}}
		}), "agents.other.pass_env names THE_SECRET"},
		"an agent that stands in both":           {with(runs(echo.Runtime{}), func(o *tributary.Options) { o.Agents = map[string]agentset.Agent{"it": {Kind: echo.Adapter()}} }), "remove one of them"},
		"a wrapped Runtime":                      {runs(wrapped{command.Runtime{Command: "sh"}}), "give tributary_test.wrapped a method WithProcess of its own"},
		"a workspace for an agent without files": {set(agentset.Agent{Kind: echo.Adapter(), Workspace: spaces.OwnCopy}), "which only an agent can have that works with the files of a directory"},
		"an agent that runs is allowed":          {set(agentset.Agent{Kind: claude.Adapter(), AllowBypass: true, Settings: agent.Settings{Args: []string{"--yolo"}}}), ""},
	} {
		c.o.Who, c.o.Sessions.Default = ada, "it"
		g, err := tributary.New(t.Context(), c.o)
		if err == nil {
			err = g.Close(context.Background())
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if made, err := os.ReadDir(cwd); err != nil || len(made) != 1 {
		t.Errorf("a refused gateway has made %v, %v", made, err)
	}
}

// The process of an agent gets the variables of every process, and none of the server's own.
func TestAnAgentOfAMountedGatewayDoesNotSeeTheEnvironmentOfItsServer(t *testing.T) {
	t.Setenv("DATABASE_PASSWORD", "hunter2-of-the-server")
	t.Setenv("HOME", "/home/of-the-server")
	t.Setenv("LC_NOT", "named-a-secret")
	shell := command.Runtime{Command: "sh", Args: []string{"-c", "env"}}
	own := shell
	own.Env = []string{"MINE=of-its-own"}
	g, err := tributary.New(t.Context(), tributary.Options{
		Who: ada, SecretEnv: []string{"LC_NOT"},
		Sessions: session.Options{Default: "sh", Agents: map[string]session.Agent{"sh": {Runtime: shell, Cwd: t.TempDir()}, "own": {Runtime: own, Cwd: t.TempDir()}}},
		Agents:   map[string]agentset.Agent{"set": {Kind: command.Adapter(), Cwd: t.TempDir(), Env: map[string]string{"MINE": "set"}, Settings: agent.Settings{Command: "sh", Args: shell.Args}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close(context.Background()) //nolint:errcheck // the test is over
	for name, want := range map[string]string{"sh": "/home/of-the-server", "own": "MINE=of-its-own", "set": "/home/of-the-server"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/chat?agent="+name, strings.NewReader(strings.ReplaceAll(hello, "c1", name)))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		if got := w.Body.String(); !strings.Contains(got, want) || strings.Contains(got, "hunter2") || strings.Contains(got, "named-a-secret") || strings.Contains(got, "HOME=") != (name != "own") {
			t.Errorf("the agent %s sees\n%s", name, got)
		}
	}
}
