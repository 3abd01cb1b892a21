package demo_test

import (
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
)

func TestSuite(t *testing.T) {
	agenttest.Run(t, agenttest.Suite{
		AsWritten: true,
		Open:      func(testing.TB) agent.Runtime { return demo.Runtime{Pace: 200 * time.Microsecond} },
		Prompts: map[agenttest.Ability]string{
			agenttest.Text:       "hello",
			agenttest.Slow:       "long",
			agenttest.Permission: "approve",
			agenttest.Question:   "ask",
			agenttest.Tell:       "My river is the Rhine.",
			agenttest.Recall:     "What do you remember?",
		},
		Without: agenttest.WithoutFaults("the agent is a script in this process: there is no protocol"),
		Runs:    agenttest.Tells("allowed to run it: echo hello", `{"command":"echo hello"}`),
		Word:    "the Rhine",
		Turns: []string{
			"think", "tool", "fail", "parallel", "approve", "both", "beside", "meanwhile",
			"twice", "withdraw", "ask", "freely", "several", "mixed", "usage", "plan", "file", "data", "subagent",
			"error", "big", "unicode", "remember", "all", "help", "no such script",
			"shell", "edit", "review", "markdown", "read", "search", "fetch", "todo", "nested", "unknown", "picture", "context", "scopes", "change", "about", "huge 1",
		},
	})
}
