package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// project is a directory with a repository and one commit.
func project(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed, so nothing is known of worktrees")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "--allow-empty", "-m", "first"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	return dir
}

func TestWorkspacesOfSessions(t *testing.T) {
	t.Parallel()
	dir, data, workspaces := project(t), t.TempDir(), filepath.Join(t.TempDir(), "workspaces")
	script := file(t, "agent.sh", "#!/bin/sh\ncat >> said\npwd\n")
	viewer, admin := "viewer-"+strings.Repeat("0", 24), "admin-"+strings.Repeat("0", 24)
	vera, root := file(t, "vera", viewer), file(t, "root", admin)
	conf := func(form string) string {
		return file(t, "t.yaml", fmt.Sprintf("auth: {tokens: [{name: vera, role: viewer, token_file: %s}, {name: root, role: admin, token_file: %s}]}\nworkspaces: %s\ndefault_agent: tool\nagents: {tool: {adapter: command, command: %s, cwd: %s, workspace: %s}}\n", vera, root, workspaces, script, dir, form))
	}
	s := startServer(t, data, "--config", conf("worktree"))
	at := func(args ...string) []string { return append(args, "--url", s.base, "--token-file", root) }
	say := func(id, words string) {
		t.Helper()
		if status, answer := s.do("POST", "/api/chat", fmt.Sprintf(`{"id":%q,"trigger":"submit-message","messages":[{"id":%q,"role":"user","parts":[{"type":"text","text":%q}]}]}`, id, words, words)); status != http.StatusOK || !strings.Contains(answer, workspaces) {
			t.Fatalf("%s: %d %s", id, status, answer)
		}
	}
	path := func(id string) (answer struct{ Workspace string }) {
		t.Helper()
		_, text := s.do("GET", "/api/sessions/"+id, "")
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatal(err, text)
		}
		return answer
	}
	said := func(id, want string) {
		t.Helper()
		if text, err := os.ReadFile(filepath.Join(path(id).Workspace, "said")); err != nil || string(text) != want {
			t.Errorf("the session %s has said %q, %v; want %q", id, text, err, want)
		}
	}
	say("one", "hello")
	say("two", "bye")
	said("one", "hello\n")
	said("two", "bye\n")
	if status, text := s.by(viewer, "GET", "/api/sessions/one", ""); status != http.StatusOK || strings.Contains(text, "workspace") {
		t.Errorf("a viewer sees %d %s", status, text)
	}
	if status, text := s.by(viewer, "GET", "/api/workspaces", ""); status != http.StatusForbidden {
		t.Errorf("a viewer lists %d %s", status, text)
	}
	s.stop()

	s = startServer(t, data, "--config", conf("shared"))
	say("one", "again")
	said("one", "hello\nagain\n")
	listed := func() string {
		t.Helper()
		r := command(t, "", at("workspaces")...)
		r.want(t, exitOK, "")
		return strings.Join(strings.Fields(r.out), " ")
	}
	one, two := path("one").Workspace, path("two").Workspace
	if got, want := listed(), fmt.Sprintf("SESSION AGENT FORM STATE PATH HOLDS one tool worktree changed %s 1 changed file (said) two tool worktree changed %s 1 changed file (said)", one, two); got != want {
		t.Errorf("the list is\n%s, want\n%s", got, want)
	}
	command(t, "", at("workspaces", "remove", "one")...).want(t, exitFailed, "tributary: the session of this workspace still exists: delete the session, which removes its workspace if nothing would be lost\n")
	deleted := command(t, "", at("sessions", "delete", "--yes", "one")...)
	deleted.want(t, exitOK, "tributary: The workspace of the session one has 1 changed file (said): copy what you need out of "+one+", or discard the workspace.\n")
	if err := os.Remove(filepath.Join(two, "said")); err != nil {
		t.Fatal(err)
	}
	command(t, "", at("sessions", "delete", "--yes", "two")...).want(t, exitOK, "")
	if _, err := os.Stat(two); !os.IsNotExist(err) {
		t.Error("the workspace that held nothing is there:", err)
	}
	if got := listed(); !strings.Contains(got, "one tool worktree changed, left over") || strings.Contains(got, "two") {
		t.Errorf("the list is %s", got)
	}
	if r := command(t, "", at("workspaces", "list", "--json")...); !strings.HasPrefix(r.out, `[{"session":"one","agent":"tool","form":"worktree","path":"`+one+`",`) || !strings.HasSuffix(r.out, `"state":"changed","holds":"1 changed file (said)","left_over":true}]`+"\n") {
		t.Errorf("as JSON the list is %s%s", r.out, r.errors)
	}
	command(t, "", at("workspaces", "remove", "one")...).want(t, exitFailed, "tributary: the workspace of the session one has 1 changed file (said): copy what you need out of "+one+", or discard the workspace\n")
	command(t, "", at("workspaces", "remove", "one", "--discard")...).want(t, exitOK, "")
	command(t, "", at("workspaces", "remove", "one")...).want(t, exitFailed, `no session of this id has a workspace of its own here: "one"`)
	if got := listed(); got != "SESSION AGENT FORM STATE PATH HOLDS" {
		t.Errorf("the list is %s", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "said")); !os.IsNotExist(err) {
		t.Error("the agent's directory has the file of a session:", err)
	}
}

func TestADirectoryForWorkspacesIsRefused(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	for _, dir := range []string{"project/sub", "other", "data/sub", "conf", "secrets"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(base, name) }
	if err := os.Symlink(in("project"), in("link")); err != nil {
		t.Fatal(err)
	}
	const one = "agents: {tool: {adapter: command, command: cat, cwd: %s, workspace: copy}}"
	for _, c := range []struct{ name, workspaces, agents, says string }{
		{"the data directory", in("data"), fmt.Sprintf(one, in("project")), "overlap, so agents could read the gateway's token and all sessions: choose another directory with workspaces"},
		{"in the data directory", in("data/new/er"), fmt.Sprintf(one, in("project")), "overlap, so agents could read the gateway's token"},
		{"above the data directory", base, fmt.Sprintf(one, in("project")), "overlap, so agents could read the gateway's token"},
		{"the agent's directory", in("project"), fmt.Sprintf(one, in("project")), "of the agent tool overlap"},
		{"in the agent's directory", in("project/sub"), fmt.Sprintf(one, in("project")), "of the agent tool overlap"},
		{"in it by a link", in("link/new"), fmt.Sprintf(one, in("project")), "of the agent tool overlap"},
		{"above the agent's directory", in("project"), fmt.Sprintf(one, in("project/sub")), "of the agent tool overlap"},
		{"the directory of another agent", in("other/w"), fmt.Sprintf("default_agent: tool\nagents: {tool: {adapter: command, command: cat, cwd: %s, workspace: copy}, more: {adapter: command, command: cat, cwd: %s}}", in("project"), in("other")), "of the agent more overlap"},
		{"the configuration", in("conf"), fmt.Sprintf(one, in("project")), "which no agent may read, lies in the directory for workspaces"},
		{"a secret", in("secrets"), "auth: {tokens: [{name: ci, role: admin, token_file: " + in("secrets/ci") + "}]}\n" + fmt.Sprintf(one, in("project")), "which no agent may read, lies in the directory for workspaces"},
		{"a secret in the agent's directory", in("w"), "auth: {tokens: [{name: ci, role: admin, token_file: " + in("project/ci") + "}]}\n" + fmt.Sprintf(one, in("project")), "so each session would get a copy: keep the file in another directory"},
		{"data in the agent's directory", in("w"), fmt.Sprintf("agents: {demo: {cwd: %s, workspace: copy}}", base), "overlap"},
		{"an agent without files", in("w"), "agents: {demo: {workspace: copy}}", "agents.demo.workspace is copy, which only an agent can have that works with the files of a directory on this machine"},
		{"an agent elsewhere", in("w"), "agents: {far: {adapter: opencode, url: \"http://127.0.0.1:1\", workspace: worktree}}", "agents.far.workspace is worktree, which only an agent can have"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf := filepath.Join(in("conf"), "tributary.yaml")
			text := fmt.Sprintf("data: %s\nworkspaces: %s\n%s\n", in("data"), c.workspaces, c.agents)
			if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"config", "check"}, {"serve", "--listen", "127.0.0.1:0", "--log-level", "error"}} {
				command(t, "", append(args, "--config", conf)...).want(t, exitUsage, c.says)
			}
		})
	}
}
