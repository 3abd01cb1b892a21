package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The environment of an agent holds no secret of the gateway: neither a variable that the
// configuration names as a secret nor a variable that it does not allow.
func TestAnAgentGetsNoSecretOfTheGateway(t *testing.T) {
	conf := file(t, "tributary.yaml", `
auth:
  mode: jwt
  jwt: {secret_env: ANTHROPIC_LOOKS_LIKE_ITS_OWN}
  tokens: [{name: ci, role: viewer, token_env: XDG_CI}]
agents:
  claude: {env: {SET: here, SECOND: "x=y"}, pass_env: [SSH_AUTH_SOCK]}
  ops: {adapter: agentops, url: "http://127.0.0.1:1", token_env: CLAUDE_OPS}
  off: {adapter: runner, enabled: false, token_env: CLAUDE_RUNNER}
`)
	s, err := load(builtIn(), conf, flags{cwd: t.TempDir(), agent: "claude"})
	if err != nil {
		t.Fatal(err)
	}
	environ := func(ours ...string) ([]string, error) {
		a, err := s.said("claude")
		if err != nil {
			t.Fatal(err)
		}
		a, err = s.gateway().Settle(a, ours)
		return a.Settings.Environ, err
	}
	env, err := environ(
		"PATH=/bin", "HOME=/home/ann", "LC_ALL=C", "https_proxy=http://p", "ANTHROPIC_API_KEY=its-own", "CLAUDE_CONFIG_DIR=/c", "SSH_AUTH_SOCK=/s", "XDG_DATA_HOME=/d",
		"ANTHROPIC_LOOKS_LIKE_ITS_OWN=s1", "XDG_CI=s2", "CLAUDE_OPS=s3", "CLAUDE_RUNNER=s4", "AWS_SECRET_ACCESS_KEY=s5", "DATABASE_URL=s6", "GITHUB_TOKEN=s7",
		"TRIBUTARY_X=s8", "OPENAI_API_KEY=s9", "CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "PATHOLOGY=1",
	)
	want := []string{
		"PATH=/bin", "HOME=/home/ann", "LC_ALL=C", "https_proxy=http://p", "ANTHROPIC_API_KEY=its-own", "CLAUDE_CONFIG_DIR=/c", "SSH_AUTH_SOCK=/s", "XDG_DATA_HOME=/d",
		"SECOND=x=y", "SET=here",
	}
	if err != nil || !slices.Equal(env, want) {
		t.Errorf("%v\n got %q\nwant %q", err, env, want)
	}
	for _, name := range []string{"CLAUDE_OPS", "CLAUDE_RUNNER", "XDG_CI", "TRIBUTARY_TOKEN"} {
		a := s.Agents["claude"]
		a.PassEnv = []string{name}
		s.Agents["claude"] = a
		if _, err := environ(); err == nil || !strings.Contains(err.Error(), "agents.claude.pass_env names "+name+", which holds a secret of the gateway") {
			t.Errorf("%s is handed over: %v", name, err)
		}
	}
}

// A program in the place of Claude Code records its environment.
func TestTheProcessOfAnAgentSeesNoSecret(t *testing.T) {
	t.Setenv("AGENT_OPS_TOKEN", "the-secret-of-the-service")
	t.Setenv("SOMETHING_ELSE", "the-secret-of-somebody")
	dir := t.TempDir()
	program := file(t, "claude", "#!/bin/sh\nenv > "+filepath.Join(dir, "seen")+"\necho 1.0.0\n")
	conf := file(t, "tributary.yaml", `
agents:
  claude: {command: `+program+`}
  ops: {adapter: agentops, url: "http://127.0.0.1:1", token_env: AGENT_OPS_TOKEN}
default_agent: claude
`)
	command(t, "", "agents", "--config", conf).want(t, exitOK, "")
	seen, err := os.ReadFile(filepath.Join(dir, "seen"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(seen), "the-secret") || !strings.Contains(string(seen), "PATH=") {
		t.Errorf("it saw:\n%s", seen)
	}
}
