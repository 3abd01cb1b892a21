//go:build unix

package claude_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/realagent"
	"github.com/tributary-dev/tributary/trace"
)

// sdkPrograms are the agents of examples/claude-agent-sdk, with what they need installed
// where the variable says: `make sdk-examples` installs both.
var sdkPrograms = map[string]struct {
	variable string
	run      func(installed string) (command string, args []string)
}{
	"typescript": {"TRIBUTARY_SDK_TYPESCRIPT", func(dir string) (string, []string) {
		return "node", []string{"--import", filepath.Join(dir, "node_modules/tsx/dist/loader.mjs"), filepath.Join(dir, "agent.ts")}
	}},
	"python": {"TRIBUTARY_SDK_PYTHON", func(dir string) (string, []string) {
		return filepath.Join(dir, "venv/bin/python"), []string{filepath.Join(dir, "agent.py")}
	}},
}

// sdkRuntime runs an example with the real Claude Code below it.
func sdkRuntime(t *testing.T, language string, real realagent.Agent) claude.Runtime {
	t.Helper()
	p := sdkPrograms[language]
	dir := os.Getenv(p.variable)
	if dir == "" {
		t.Skipf("the %s example is not installed: make sdk-examples installs both and sets %s", language, p.variable)
	}
	command, args := p.run(dir)
	return claude.Runtime{
		Command: command, Script: args, StartTime: time.Minute,
		Env: append(real.Env, "PATH="+os.Getenv("PATH"), "CLAUDE_CODE_PATH="+real.Path),
	}
}

func TestAnAgentOnTheClaudeAgentSDKPassesTheSuite(t *testing.T) {
	for language := range sdkPrograms {
		t.Run(language, func(t *testing.T) {
			real := realagent.Claude(t)
			runtime := sdkRuntime(t, language, real)
			agenttest.Run(t, agenttest.Suite{
				Open: func(testing.TB) agent.Runtime { return runtime },
				Config: func(testing.TB) agent.Config {
					return agent.Config{SessionID: "session", Cwd: real.Dir, StateDir: t.TempDir()}
				},
				Prompts: map[agenttest.Ability]string{
					agenttest.Text:       "[[script:think]]",
					agenttest.Slow:       "[[script:slow 100]]",
					agenttest.Permission: "[[script:shell touch " + real.Dir + "/touched]]",
					agenttest.Tell:       "[[script:plain]] The word is heron.",
					agenttest.Recall:     "[[script:recall]]",
				},
				Runs:    agenttest.Leaves(func() string { return real.Dir + "/touched" }, `{"command":"touch `+real.Dir+`/touched"}`),
				Without: agenttest.WithoutFaults("the fake agent plays them"),
				Word:    "heron",
				Bound:   time.Minute,
			})
		})
	}
}

// The tool and the hook of the program work beside the gateway's policy.
func TestAnAgentOnTheClaudeAgentSDKHasItsOwnToolAndHook(t *testing.T) {
	for language := range sdkPrograms {
		t.Run(language, func(t *testing.T) {
			real := realagent.Claude(t)
			host := agenttest.NewHost()
			s := agenttest.Open(t, sdkRuntime(t, language, real), host, agent.Config{})
			events, _ := agenttest.Turn(t, s, host, agenttest.Prompt(`[[script:call mcp__house__word_count {"text":"one two three"}]]`))
			if results := agenttest.Each[trace.ToolResult](events); len(results) != 1 || results[0].Status != trace.ToolCompleted {
				t.Errorf("the program's own tool ended as %+v", results)
			}
			events, _ = agenttest.Turn(t, s, host, agenttest.Prompt(`[[script:shell sudo id]]`))
			results, asked := agenttest.Each[trace.ToolResult](events), agenttest.Each[trace.PermissionRequest](events)
			if len(results) != 1 || results[0].Status == trace.ToolCompleted || len(asked) > 0 {
				t.Errorf("a command that the hook denies ended as %+v and was asked as %+v", results, asked)
			}
		})
	}
}
