//go:build unix

package claude_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/realagent"
)

const askColour = `[[script:call AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}]}]}]]`

// TestRealClaude runs the suite of all adapters against the real Claude Code,
// with a scripted model.
func TestRealClaude(t *testing.T) {
	real := realagent.Claude(t)
	agenttest.Run(t, agenttest.Suite{
		Open: func(testing.TB) agent.Runtime {
			return claude.Runtime{Command: real.Path, BaseEnv: real.Env}
		},
		Config: func(testing.TB) agent.Config {
			return agent.Config{SessionID: "session", Cwd: real.Dir, StateDir: t.TempDir()}
		},
		Prompts: map[agenttest.Ability]string{
			agenttest.Text:       "[[script:think]]",
			agenttest.Slow:       "[[script:slow 100]]",
			agenttest.Permission: "[[script:shell touch " + real.Dir + "/touched]]",
			agenttest.Question:   askColour,
			agenttest.Tell:       "[[script:plain]] The word is heron.",
			agenttest.Recall:     "[[script:recall]]",
		},
		Word: "heron",
		Turns: []string{
			"[[script:read " + real.Dir + "/hello.txt]]",
			"[[script:both " + real.Dir + "/hello.txt]]",
			"[[script:chain " + real.Dir + "/hello.txt]]",
			"[[script:error 400]]",
			"[[script:error-cut]]",
			"[[script:empty]]",
			"[[script:big 600]]",
		},
		Bound: 30 * time.Second,
	})
}

func TestProbeRealClaude(t *testing.T) {
	t.Parallel()
	real := realagent.Claude(t)
	version, err := claude.Runtime{Command: real.Path, BaseEnv: real.Env}.Probe(t.Context())
	if err != nil || !strings.HasSuffix(real.Package.String(), "@"+version) {
		t.Errorf("Probe says %q, %v; want the version of %s", version, err, real.Package)
	}
}
