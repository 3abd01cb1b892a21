package openai_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/openai"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
)

// actor is a model that does what the prompt says.
func actor(c conversation) said {
	switch p := c.last(); {
	case c.answered:
		return said{text: "The tool said: " + c.result}
	case p == "slow":
		return said{text: strings.Repeat("word ", 100), pace: 20 * time.Millisecond}
	case p == "command":
		return said{thought: "I need a command.", text: "I will run a command.", name: "bash", input: `{"command":"echo hi"}`}
	case p == "unknown":
		return said{name: "nothing", input: `{}`}
	case p == "nonsense":
		return said{name: "bash", input: `{"command":`}
	case p == "recall":
		return said{text: strings.Join(c.prompts, "; ")}
	default:
		return said{thought: "Hm.", text: "Hello."}
	}
}

func TestSuite(t *testing.T) {
	for _, api := range []string{"chat", "responses"} {
		t.Run(api, func(t *testing.T) {
			agenttest.Run(t, agenttest.Suite{
				Open: func(t testing.TB) agent.Runtime { return newFake(t, actor).runtime(openai.Options{API: api}) },
				Prompts: map[agenttest.Ability]string{
					agenttest.Text: "hello", agenttest.Slow: "slow", agenttest.Permission: "command",
					agenttest.Tell: "My river is the Rhine.", agenttest.Recall: "recall",
				},
				Word:  "the Rhine",
				Turns: []string{"", "unknown", "nonsense"},
			})
		})
	}
}
