package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Arguments that switch permission requests off are recognised however they are written.
func TestArgumentsThatBypassPermissionsAreRefused(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		`--dangerously-skip-permissions`, `--verbose, --dangerously-skip-permissions`, `--allow-dangerously-skip-permissions`, `--dangerously-skip-permissions=true`,
		`--permission-mode, bypassPermissions`, `--permission-mode=bypassPermissions`, `--permission-mode, BYPASSPERMISSIONS`, `--permission-mode, acceptEdits`,
		`--settings, /tmp/x.json`, `--settings=/tmp/x.json`, `--allowedTools, Bash`, `--allowedTools=Bash`, `--allowed-tools, "Bash(*)"`, `--permission-prompt-tool, x`,
		`--dangerously-bypass-approvals-and-sandbox`, `--yolo`, `--full-auto`, `--ask-for-approval, never`, `--ask-for-approval=never`, `--sandbox=danger-full-access`,
		`-c, approval_policy=never`, `-c, "approval_policy = \"never\""`, `--config, sandbox_mode='danger-full-access'`, `--config=approval_policy=never`,
		`--approval-mode, yolo`, `--approval-mode=yolo`, `"@google/gemini-cli", -y`, `qwen, -y`, `--allow-all-tools`,
		`-capproval_policy=never`, `-c=approval_policy=never`, `-c, profiles.x.approval_policy=never`, `codex, -anever`, `codex, -sdanger-full-access`, `--approvalMode=yolo`,
		`--plugin-dir, x`, `--agents, '{"x":{"permissionMode":"bypassPermissions"}}'`,
		`copilot, --autopilot`, `copilot, --mode, autopilot`, `copilot, --allow-all-urls`, `gemini, --policy, x.toml`,
	} {
		conf := file(t, "tributary.yaml", "agents:\n  claude: {args: ["+args+"]}\n")
		for _, run := range [][]string{{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--cwd", t.TempDir()}, {"run", "hello"}, {"agents"}} {
			r := command(t, "", append(run, "--config", conf)...)
			r.want(t, exitUsage, "tributary.yaml:2: agents.claude has ")
			if !strings.Contains(r.errors, "by which the agent acts without asking: remove it and write a policy, or set allow_bypass: true") || strings.Count(r.errors, "\n") != 1 {
				t.Errorf("%v %s: %s", run[0], args, r.errors)
			}
		}
	}
	for _, env := range []string{
		`OPENCODE_PERMISSION: '{"*":"allow"}'`, `OPENCODE_CONFIG_CONTENT: '{"permission": {"bash": "allow"}}'`, `GOOSE_MODE: auto`, `COPILOT_ALLOW_ALL: "true"`, `COPILOT_ALLOW_ALL: "on"`, `COPILOT_ASSISTED_APPROVAL: "1"`, `VIBE_BYPASS_TOOL_PERMISSIONS: "true"`,
		`Vibe_Tools: '{"bash":{"permission":"always"}}'`, `KILO_PERMISSION: '{"*":"\u0061llow"}'`, `OPENCODE_CONFIG_CONTENT: '{"\u0070ermission":"allow"}'`, `KILO_TEST_MANAGED_CONFIG_DIR: /tmp`,
	} {
		conf := file(t, "tributary.yaml", "agents:\n  claude: {env: {"+env+"}}\n")
		command(t, "", "agents", "--config", conf).want(t, exitUsage, "by which the agent acts without asking")
	}
	for _, args := range []string{
		`--permission-mode, plan`, `--permission-mode=default`, `-y, "@google/gemini-cli", --acp`, `-c, model=o3`, `--sandbox, read-only`, `--append-system-prompt, "never --yolo-ing"`,
		`--model, never`, `-a, never`, `copilot, --mode, plan`,
	} {
		conf := file(t, "tributary.yaml", "agents:\n  claude: {args: ["+args+"]}\n")
		command(t, "", "agents", "--config", conf).want(t, exitOK, "")
	}
}

func TestABypassThatIsAllowedIsLogged(t *testing.T) {
	t.Parallel()
	conf := file(t, "tributary.yaml", "agents:\n  claude: {command: /no/such/claude, args: [--dangerously-skip-permissions], allow_bypass: true}\n")
	s := startServer(t, t.TempDir(), "--config", conf)
	s.stop()
	if !strings.Contains(s.errors.String(), "its setting --dangerously-skip-permissions lets it act without asking") {
		t.Errorf("logged:\n%s", s.errors)
	}
}

// An agent's own settings can let it act without asking. The gateway says so.
func TestSettingsFilesOfTheAgentThatAllowAreNamed(t *testing.T) {
	for _, row := range [][3]string{
		{"claude-text", ".claude/settings.json", `{"permissions": {"allow": ["Bash(git:*)"]}}`},
		{"claude-text", ".claude/settings.local.json", `{"permissions": {"defaultMode": "bypassPermissions"}}`},
		{"claude-text", "~/.claude/settings.json", `{"permissions":{"allow":[ "Read" ]}}`},
	} {
		name, content := row[1], row[2]
		home, cwd := t.TempDir(), t.TempDir()
		t.Setenv("HOME", home)
		path := filepath.Join(cwd, name)
		if below, ok := strings.CutPrefix(name, "~/"); ok {
			path = filepath.Join(home, below)
		}
		for i, text := range []string{content, `{"permissions": {"allow": [], "deny": ["Bash"]}}`} {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := load(builtIn(), file(t, "t.yaml", "agents: {"+row[0]+": {}}"), flags{cwd: cwd})
			if err != nil {
				t.Fatal(err)
			}
			want := "[]"
			if i == 0 {
				want = "[" + path + " has rules that let it act without asking]"
			}
			if got := fmt.Sprint(s.warnings(row[0])); got != want {
				t.Errorf("%s of %s: %s, want %s", name, row[0], got, want)
			}
		}
	}
}

// An agent without permission requests runs only where the configuration says so.
func TestAnAgentThatAsksNobodyIsRefused(t *testing.T) {
	t.Parallel()
	conf := file(t, "tributary.yaml", "agents:\n  pi: {}\n")
	r := command(t, "", "serve", "--config", conf, "--data", t.TempDir())
	if !strings.Contains(r.errors, "runs every command unasked: set allow_bypass: true") {
		t.Errorf("serve said: %s", r.errors)
	}
}
