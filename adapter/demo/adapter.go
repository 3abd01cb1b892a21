package demo

import (
	"time"

	"github.com/tributary-dev/tributary/agent"
)

// Adapter is the adapter of the demo.
func Adapter() agent.Adapter {
	return agent.Adapter{
		Name: "demo", Files: true, Keys: []string{"options"}, InProcess: true, Harmless: true,
		New: func(s agent.Settings) (agent.Runtime, error) {
			o := struct {
				Pace agent.Duration `json:"pace"`
			}{agent.Duration(DefaultPace)}
			if err := agent.DecodeOptions(s.Options, &o); err != nil {
				return nil, err
			}
			return Runtime{Pace: time.Duration(o.Pace)}, nil
		},
	}
}

// Describe implements agent.Describer.
func (Runtime) Describe() (agent.Adapter, agent.Settings) {
	return Adapter(), agent.Settings{}
}
