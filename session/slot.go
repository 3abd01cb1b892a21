package session

import (
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/session/agents"
)

// agentState is the state of a session's agent.
//
//	closed ─▶ opening ─▶ open ─▶ closing ─▶ closed
//
// An opening can fail, and an open agent that does not stop is dropped at once. The goroutine
// that begins to open or close the agent is alone with that, and ends it.
type agentState uint8

const (
	agentClosed agentState = iota
	agentOpening
	agentOpen
	agentClosing
)

// agentSlot has the agent of a session. The session's mutex guards it.
type agentSlot struct {
	state   agentState
	agent   *agents.Opened // nil while the agent is closed or opening
	files   workspace.Dir
	leave   func()        // gives the files back; nil if there are none
	cwd     string        // the path of the files
	changed chan struct{} // closed at the next change; nil if nobody waits
}

// to changes the state.
func (s *agentSlot) to(next agentState) {
	s.state = next
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// moving reports whether the agent is being opened or closed.
func (s *agentSlot) moving() bool { return s.state == agentOpening || s.state == agentClosing }

// steadyAgent waits until the agent is open or closed, and returns with the session's mutex. It
// returns false, without the mutex, if done closes first.
func (l *activeSession) steadyAgent(done <-chan struct{}) bool {
	l.mu.Lock()
	for l.slot.moving() {
		if l.slot.changed == nil {
			l.slot.changed = make(chan struct{})
		}
		changed := l.slot.changed
		l.mu.Unlock()
		select {
		case <-changed:
		case <-done:
			return false
		}
		l.mu.Lock()
	}
	return true
}
