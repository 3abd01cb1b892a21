package agentops

import (
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// Adapter is the adapter of Agent Ops. The program adds New, which reads sizes as the configuration writes them.
func Adapter() agent.Adapter {
	return agent.Adapter{
		Name: "agentops", Needs: "url", InProcess: true, Harmless: true,
		Keys: []string{"url", "token_env", "token_file", "model", "tool_kinds", "options"},
		Decoder: func(s agent.Settings) agent.Decoder {
			tools := toolkind.OpenCode().With(s.ToolKinds)
			return NewDecoder(Options{Tools: &tools})
		},
	}
}

// Describe implements agent.Describer.
func (r Runtime) Describe() (agent.Adapter, agent.Settings) {
	return Adapter(), agent.Settings{URL: r.URL, TokenEnv: r.Token.Env, TokenFile: r.Token.File}
}
