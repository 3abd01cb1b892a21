package echo

import (
	"github.com/tributary-dev/tributary/agent"
)

// Adapter is the adapter of echo.
func Adapter() agent.Adapter {
	return agent.Adapter{
		Name: "echo", InProcess: true, Harmless: true,
		New: func(agent.Settings) (agent.Runtime, error) { return Runtime{}, nil },
	}
}

// Describe implements agent.Describer.
func (Runtime) Describe() (agent.Adapter, agent.Settings) {
	return Adapter(), agent.Settings{}
}
