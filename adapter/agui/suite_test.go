package agui_test

import (
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/agui"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
)

func TestSuite(t *testing.T) {
	f := newFake(t, nil)
	agenttest.Run(t, agenttest.Suite{
		AsWritten: true,
		Open:      func(testing.TB) agent.Runtime { return agui.Runtime{URL: f.URL} },
		Prompts: map[agenttest.Ability]string{
			agenttest.Text: "hello", agenttest.Slow: "slow", agenttest.Permission: "permit", agenttest.Question: "question",
			agenttest.Tell: "My river is the Rhine.", agenttest.Recall: "recall",
			agenttest.Die: "die", agenttest.Half: "half", agenttest.Garbage: "garbage", agenttest.Huge: "huge",
			agenttest.Rich: "rich",
		},
		Runs:    agenttest.Tells("touched", `{"file":"a.txt"}`),
		Decoder: func() agent.Decoder { return agui.NewDecoder() },
		Cut: func(t testing.TB, c *agenttest.Cut) agent.Runtime {
			return agui.Runtime{URL: newMortal(t, nil, c).URL}
		},
		Word:  "the Rhine",
		Turns: []string{"busy", "error"},
		Bound: time.Minute, // the run behind the huge message is told it
	})
}
