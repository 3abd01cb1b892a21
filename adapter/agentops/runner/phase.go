package runner

import "github.com/tributary-dev/tributary/agent/agentkit"

// event is what changes the phase.
type event int

const (
	connected event = iota // the runner got init
	idle                   // it says that it is idle
	works                  // it got a prompt, or speaks of the open turn
	ended                  // the turn is over
	completed              // it says that a prompt is complete
	stopped                // it has confirmed a stop that it was asked for
)

// on changes the phase. An event that means nothing in a phase changes nothing: a runner
// says idle in the middle of a prompt, too, when it asks a question.
func (d *Decoder) on(e event) {
	switch {
	case e == connected:
		d.phase = agentkit.Starting
	case e == works:
		d.phase = agentkit.Working
	case e == completed, e == idle && d.phase == agentkit.Starting, e == ended && d.phase == agentkit.Working:
		d.phase = agentkit.Ready
	case e == stopped && d.phase == agentkit.Ready:
		d.phase = agentkit.Stopping
	}
}
