package openai_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/openai"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
)

// actor is a model that does what the prompt says.
func actor(c conversation) reply {
	switch p := c.last(); {
	case c.answered:
		return reply{text: "The tool said: " + c.result}
	case p == "slow":
		return reply{text: strings.Repeat("word ", 3000), pace: 20 * time.Millisecond}
	case strings.HasPrefix(p, "touch "):
		return reply{name: "bash", input: `{"command":"` + p + `"}`}
	case p == "die", p == "half", p == "garbage":
		return reply{text: "So far. ", raw: p}
	case p == "huge":
		return reply{text: agenttest.HugeText()}
	case p == "command":
		return reply{thought: "I need a command.", text: "I will run a command.", name: "bash", input: `{"command":"echo hi"}`}
	case p == "unknown":
		return reply{name: "nothing", input: `{}`}
	case p == "nonsense":
		return reply{name: "bash", input: `{"command":`}
	case p == "recall":
		return reply{text: strings.Join(c.prompts, "; ")}
	default:
		return reply{thought: "Hm.", text: "Hello."}
	}
}

func TestSuite(t *testing.T) {
	for _, api := range []string{"chat", "responses"} {
		t.Run(api, func(t *testing.T) {
			ran := filepath.Join(t.TempDir(), "ran")
			agenttest.Run(t, agenttest.Suite{
				Open: func(t testing.TB) agent.Runtime {
					_ = os.Remove(ran)
					return newFake(t, actor).runtime(openai.Options{API: api, Retries: none()})
				},
				Cut: func(t testing.TB, c *agenttest.Cut) agent.Runtime {
					return newCutFake(t, actor, c).runtime(openai.Options{API: api, Retries: none()})
				},
				Prompts: map[agenttest.Ability]string{
					agenttest.Text: "hello", agenttest.Slow: "slow", agenttest.Permission: "touch " + ran,
					agenttest.Tell: "My river is the Rhine.", agenttest.Recall: "recall",
					agenttest.Die: "die", agenttest.Half: "half", agenttest.Garbage: "garbage", agenttest.Huge: "huge",
					agenttest.Rich: "command",
				},
				Runs:  agenttest.Leaves(func() string { return ran }, `{"command":"touch `+ran+`"}`),
				Word:  "the Rhine",
				Turns: []string{"", "command", "unknown", "nonsense"},
			})
		})
	}
}
