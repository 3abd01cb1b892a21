package acp_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/acp"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

func TestAPresetSetsVariablesUnlessTheEnvironmentHasThem(t *testing.T) {
	t.Parallel()
	preset := acp.Preset{Set: map[string]string{"A": "preset", "B": "preset"}}
	given := []string{"B=own", "AB=other"}
	r := acp.Runtime{Preset: preset, Env: given}
	if got := r.Environment(); !slices.Equal(got, []string{"B=own", "AB=other", "A=preset"}) {
		t.Errorf("the environment is %q", got)
	}
	if !slices.Equal(given, []string{"B=own", "AB=other"}) {
		t.Errorf("the configured environment has changed: %q", given)
	}
	for _, p := range acp.Presets() {
		for name := range p.Set {
			if got := (acp.Runtime{Preset: p}).Environment(); !slices.ContainsFunc(got, func(kv string) bool { return strings.HasPrefix(kv, name+"=") }) {
				t.Errorf("%s does not get %s: %q", p.Name, name, got)
			}
		}
	}
}

// Claude Agent gets its rule with each session, unless the operator lets it act by itself.
func TestClaudeAgentIsToldToAsk(t *testing.T) {
	t.Parallel()
	fake := fakeRuntime(t, "tells how it is opened")
	for _, bypass := range []bool{false, true} {
		for _, resume := range []string{"", "old"} {
			r, err := acp.Adapter().New(agent.Settings{Preset: "claude-acp", Command: fake.Command, Environ: fake.Env, AllowBypass: bypass})
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.Open(t.Context(), agenttest.NewHost(), agent.Config{Cwd: t.TempDir(), Resume: resume})
			if err == nil || strings.Contains(err.Error(), `"ask":["*"]`) == bypass {
				t.Errorf("allow_bypass %v, resume %q: %v", bypass, resume, err)
			}
		}
	}
}

func TestModesInWhichAPresetsAgentDecidesAreRefused(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]string{"claude-acp": "auto", "goose": "auto", "mistral-vibe": "auto-approve"} {
		p, ok := acp.FindPreset(name)
		if !ok {
			t.Fatalf("there is no preset %s", name)
		}
		if err := (acp.Runtime{Preset: p}).Validate([]byte(`{"mode":"` + mode + `"}`)); err == nil || !strings.Contains(err.Error(), "lets the agent act without asking") {
			t.Errorf("%s: the mode %s is not refused: %v", name, mode, err)
		}
		if err := (acp.Runtime{Preset: p}).Validate(nil); err != nil || p.Mode == "" {
			t.Errorf("%s begins in %q: %v; want a mode that asks", name, p.Mode, err)
		}
	}
}

// Each of these files made the real agent start a program, or act, where nobody was asked about it.
func TestPresetsKnowTheFilesOfAWorkspaceThatTheirAgentsObey(t *testing.T) {
	t.Parallel()
	for preset, files := range map[string][]string{
		"gemini":       {".gemini/settings.json", ".env", ".gemini/.env"},
		"claude-acp":   {".mcp.json"},
		"codex-acp":    {".codex/config.toml"},
		"opencode-acp": {".opencode/plugin/p.js", ".opencode/command/c.md"},
		"qwen":         {".qwen/settings.json", ".qwen/.env"},
		"copilot":      {".github/hooks/h.json", ".github/hooks/a/b/h.json", ".github/copilot/settings.json", ".claude/settings.json", ".mcp.json"},
		"kilo":         {".kilo/plugin/p.js", ".kilo/command/c.md"},
		"goose":        {".agents/plugins/p/hooks/hooks.json", ".agents/plugins/p/.mcp.json"},
		"cline":        {".clinerules/hooks/TaskStart", ".cline/hooks/PreToolUse", ".cline/plugins/p.js", ".env", ".env.local"},
		"mistral-vibe": {".vibe/config.toml", ".vibe/tools/t.py"},
	} {
		p, _ := acp.FindPreset(preset)
		for _, file := range files {
			dir := t.TempDir()
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700), os.WriteFile(filepath.Join(dir, file), []byte(`{"x":1}`), 0o600)); err != nil {
				t.Fatal(err)
			}
			within, err := workspace.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if found := agent.FindSettings((acp.Runtime{Preset: p}).SettingsFiles(), within); len(found) != 1 || found[0].Path != file {
				t.Errorf("%s: nobody is asked about %s: %v", preset, file, found)
			}
			_ = within.Close()
		}
	}
}

func TestTheVersionIsFoundInTheOutputOfAnAgent(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]string{
		"0.61.0\n":                       "0.61.0",
		" 1.50.0\n":                      "1.50.0",
		"codex-acp 2.6.0-beta.1+build\n": "2.6.0-beta.1+build",
		"GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.": "1.0.102",
		"vibe-acp 3.0.2":                     "3.0.2",
		"Update to 4.0 with npm\nkilo 7.7.7": "4.0", // the first number: advice before the name misleads
		"a program without a number\n":       "a program without a number",
		"":                                   "",
	} {
		if got := acp.Version(out); got != want {
			t.Errorf("%q has the version %q, want %q", out, got, want)
		}
	}
}

// The past that comes behind the reply is no part of the next turn.
func TestALateHistoryIsLeftOut(t *testing.T) {
	t.Parallel()
	r := fakeRuntime(t, "tells late")
	r.Preset.ReplaysLate = true
	host := agenttest.NewHost()
	s := agenttest.Open(t, r, host, agent.Config{Resume: "fake-session"})
	events, stop := agenttest.TurnWhile(t, s, host, agenttest.Prompt("slow"), func(stop func(), r *agenttest.Recorder) {
		agenttest.Until[trace.MessageDelta](t, r)
		time.Sleep(300 * time.Millisecond) // as long as the past would take
		stop()
	})
	if said := agenttest.Said(events); strings.Contains(said, "the past") || !strings.Contains(said, "word0") || stop.Outcome != trace.OutcomeCanceled {
		t.Errorf("it said %q and ended as %+v", said, stop)
	}
	if n := len(host.Begun()); n != 0 {
		t.Errorf("the past began %d turns", n)
	}
}

// A person who may prompt is not thereby one who may widen what the agent may do.
func TestCommandsThatLoosenAnAgentAreRefused(t *testing.T) {
	t.Parallel()
	for name, commands := range map[string][]string{
		"claude-acp": {"config", "settings"}, "copilot": {"yolo", "allow-all"},
		"goose": {"mode", "builtin", "extension"}, "cline": {"yolo", "tools", "cwd"},
		"mistral-vibe": {"mcp", "reload", "proxy-setup", "leanstall", "unleanstall", "teleport"}, "": {"yolo", "reload", "mode"},
	} {
		preset, _ := acp.FindPreset(name)
		r := fakeRuntime(t, "plain")
		r.Preset = preset
		host := agenttest.NewHost()
		s := agenttest.Open(t, r, host, agent.Config{})
		for _, command := range commands {
			_, stop := agenttest.Turn(t, s, host, agenttest.Prompt(" /"+strings.ToUpper(command)+" x"))
			if stop.Outcome != trace.OutcomeFailed || !strings.Contains(stop.Error, "the gateway refuses it") {
				t.Errorf("%s: /%s ended as %+v", name, command, stop)
			}
		}
	}
}
