package command

import "github.com/tributary-dev/tributary/agent"

// Adapter is the adapter of programs that take a prompt and print their answer.
func Adapter() agent.Adapter {
	return agent.Adapter{
		Name: "command", Files: true, Needs: "command", Keys: agent.ProcessKeys(),
		New: func(s agent.Settings) (agent.Runtime, error) {
			return Runtime{Command: s.Command, Args: s.Args, Env: s.Environ}, nil
		},
	}
}

// Describe implements agent.Describer.
func (r Runtime) Describe() (agent.Adapter, agent.Settings) {
	return Adapter(), agent.Settings{Command: r.Command, Args: r.Args, Environ: r.Env}
}

// WithProcess implements agent.ProcessStarter.
func (r Runtime) WithProcess(s agent.Settings) agent.Runtime {
	r.Env = s.Environ
	return r
}
