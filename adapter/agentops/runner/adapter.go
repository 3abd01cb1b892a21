package runner

import (
	"os"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// leastToken is the least length of a token for runners. A short token can be guessed.
const leastToken = 16

// Adapter is the adapter of runners, which connect to the gateway.
func Adapter() agent.Adapter {
	return agent.Adapter{
		Name: "runner", Keys: []string{"token_env", "model", "tool_kinds"}, InProcess: true, Harmless: true,
		New: func(s agent.Settings) (agent.Runtime, error) {
			token := os.Getenv(s.TokenEnv)
			if s.TokenEnv != "" && len(token) < leastToken {
				return nil, agent.WrongSetting("token_env", "names %s, which is to hold a token of at least %d characters and does not", s.TokenEnv, leastToken)
			}
			tools := toolkind.OpenCode().With(s.ToolKinds)
			return New(Options{Token: token, Tools: &tools}), nil
		},
		Decoder: func(s agent.Settings) agent.Decoder { return NewDecoder(toolkind.OpenCode().With(s.ToolKinds)) },
	}
}

// Describe implements agent.Describer.
func (*Runtime) Describe() (agent.Adapter, agent.Settings) {
	return Adapter(), agent.Settings{}
}
