package agentkit

import (
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// turns gives the Decoder its turns. The session is locked while it decodes.
type turns struct{ s *Session }

var _ agent.Turns = turns{}

// Prompted implements agent.Turns.
func (t turns) Prompted(p trace.Prompt) *trace.Builder {
	if t.s.waiting == nil {
		return t.Begin(agent.TurnInfo{Prompt: &p})
	}
	t.s.current, t.s.waiting = t.s.waiting, nil
	return t.s.current
}

// Begin implements agent.Turns. A starting agent begins no turn.
func (t turns) Begin(info agent.TurnInfo) *trace.Builder {
	if !t.s.ready || t.s.closed {
		return nil
	}
	t.s.current = t.s.host.Begin(info)
	return t.s.current
}

// Current implements agent.Turns.
func (t turns) Current() *trace.Builder { return t.s.current }

// Note implements agent.Turns.
func (t turns) Note(p trace.Payload) { t.s.host.Note(p) }
