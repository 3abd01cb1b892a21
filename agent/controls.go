package agent

import "context"

// Controls are what a person may do with a running agent beside prompting and stopping
// it. A nil function says that the agent cannot. The functions are safe for concurrent
// use; an error is one sentence.
type Controls struct {
	// Steer puts a message into the running turn.
	Steer func(ctx context.Context, p Prompt) error
	// SetMode and SetModel change the mode and the model, by the ids that the agent
	// lists in trace.Modes and trace.Models.
	SetMode, SetModel func(ctx context.Context, id string) error
}

// Controllable is a Session with Controls.
type Controllable interface {
	Controls() Controls
}
