package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A user that an agent cannot have is a fault of the configuration, on its line.
func TestAnAgentsUserIsRefusedInASentence(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"{adapter: command, command: sh, user: no-such-user}":             "agents.x.user is \"no-such-user\", and this system has no such user",
		"{adapter: command, command: sh, user: root}":                     "agents.x.user is root, which may read every file of the gateway",
		"{adapter: claude, user: nobody, workspace: copy}":                "agents.x.workspace is copy, and the gateway cannot make workspaces of its own for the user nobody: write workspace: shared, or let it run as the gateway's user",
		"{adapter: demo, user: nobody}":                                   "agents.x.user is nobody, and this agent starts no programs: remove it",
		"{adapter: agui, url: 'http://127.0.0.1:1', user: nobody}":        "agents.x.user is nobody, and this agent starts no programs: remove it",
		"{adapter: command, command: sh, user: [nobody]}":                 "agents.x.user is a list",
		"{adapter: command, command: sh, user: nobody, box: {read: [a]}}": "",
	} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			conf := file(t, "tributary.yaml", "cwd: "+t.TempDir()+"\nagents:\n  x: "+agent+"\n")
			if want == "" {
				command(t, "", "config", "check", "--config", conf).want(t, exitOK, "")
				return
			}
			command(t, "", "config", "check", "--config", conf).want(t, exitUsage, want)
			command(t, "", "serve", "--config", conf).want(t, exitUsage, "yaml:3: "+want)
		})
	}
}

// agent_user is the user of the agents that start programs and name none. A fault of it is on its line.
func TestEveryAgentWithProcessesHasTheAgentUser(t *testing.T) {
	t.Parallel()
	conf := file(t, "tributary.yaml", "agent_user: nobody\nagents: {x: {adapter: command, command: sh}, y: {adapter: claude, user: daemon}, demo: {}, far: {adapter: agui, url: 'http://127.0.0.1:1'}}")
	s, err := load(builtIn(), conf, flags{cwd: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"x": "nobody", "y": "daemon", "demo": "", "far": ""} {
		if a, err := s.said(name); err != nil || a.User != want {
			t.Errorf("%s runs as %q, %v; want %q", name, a.User, err, want)
		}
	}
	conf = file(t, "tributary.yaml", "agent_user: no-such-user\nagents: {x: {adapter: command, command: sh}}")
	command(t, "", "config", "check", "--config", conf).want(t, exitUsage, "yaml:1: agent_user is \"no-such-user\", and this system has no such user")
}

// People who approve for an agent with a user of its own do not own the gateway. They share that user.
func TestAnAgentsUserIsToldWhereSeveralPeopleShareIt(t *testing.T) {
	t.Setenv("TRIBUTARY_TEST_TOKEN", "the-token-of-a-collaborator-0123456789")
	conf := file(t, "tributary.yaml", "cwd: "+t.TempDir()+"\nauth: {approver: collaborator, tokens: [{name: bob, role: collaborator, token_env: TRIBUTARY_TEST_TOKEN}]}\nagents: {claude: {user: nobody}}\n")
	r := command(t, "", "config", "check", "--config", conf)
	if r.status != exitOK || strings.Contains(r.errors, "the gateway's user") || !strings.Contains(r.errors, "it runs as the user nobody for everybody") {
		t.Errorf("exit status %d\n%s", r.status, r.errors)
	}
}

// The environment says whose the process is, and leads to no directory of the gateway's user.
func TestTheEnvironmentIsThatOfTheAgentsUser(t *testing.T) {
	t.Parallel()
	conf := file(t, "tributary.yaml", "agents: {claude: {user: nobody, env: {SET: here}, pass_env: [XDG_NAMED]}}")
	s, err := load(builtIn(), conf, flags{cwd: t.TempDir(), agent: "claude"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.said("claude")
	if err != nil {
		t.Fatal(err)
	}
	a, err = s.gateway().Settle(a, []string{"PATH=/bin", "HOME=/root", "USER=root", "LOGNAME=root", "SHELL=/bin/zsh", "TMPDIR=/root/tmp", "XDG_RUNTIME_DIR=/run/user/0", "XDG_DATA_HOME=/root/d", "XDG_NAMED=/n", "LANG=C", "ANTHROPIC_API_KEY=its-own"})
	want := []string{"PATH=/bin", "XDG_NAMED=/n", "LANG=C", "ANTHROPIC_API_KEY=its-own", "HOME=/nonexistent", "USER=nobody", "LOGNAME=nobody", "SHELL=/bin/sh", "SET=here"}
	if err != nil || !slices.Equal(a.Settings.Environ, want) {
		t.Errorf("%v\n got %q\nwant %q", err, a.Settings.Environ, want)
	}
}

func TestTheListOfAgentsNamesTheUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root may start programs of other users")
	}
	work := t.TempDir()
	conf := file(t, "tributary.yaml", "cwd: "+work+"\nagents: {x: {adapter: claude, command: "+file(t, "claude", "#!/bin/sh\nid -un\n")+", user: nobody}}")
	command(t, "", "agents", "--config", conf).want(t, exitUsage, "yaml:2: agents.x cannot be had: the user nobody may not read and write the workspace "+work+": give it to that user with `chown -R nobody")
	if err := errors.Join(os.Chmod(work, 0o777), os.Chmod(filepath.Dir(work), 0o755)); err != nil { //nolint:gosec // for the other user
		t.Fatal(err)
	}
	if r := command(t, "", "agents", "--config", conf); !strings.Contains(r.out, string(boxHere())+", user nobody") || !strings.Contains(r.out, "ready") {
		t.Errorf("%s%s", r.out, r.errors)
	}
	if r := command(t, "", "agents", "--config", conf, "--json"); !strings.Contains(r.out, `"user":"nobody"`) || !strings.Contains(r.out, `"version":"nobody"`) {
		t.Errorf("%s%s", r.out, r.errors)
	}
}
