package session

import (
	"sync"

	"github.com/tributary-dev/tributary/internal/procio"
)

// This file has agents stand still while their gateway cannot reach the database.

// suspendBefore is how long before the end of the lease the processes of agents are stopped: from then on other gateways may take
// their sessions.
const suspendBefore = 2 * ownershipEvery

// standstill is the processes of agents that stand still. What their turns write waits in the log meanwhile.
type standstill struct {
	*Hub
	suspended procio.Suspended
}

// keep stops the processes, also those that have started since, or has those go on whose sessions nobody has taken.
func (s *standstill) keep(on bool) {
	switch was := s.standsStill.Swap(on); {
	case on:
		if !was {
			s.Logger.Warn("the database does not answer: agents stand still, because other gateways may take their sessions")
		}
		if s.StateDir != "" {
			s.suspended.Add(s.StateDir)
		}
	case was:
		s.goesOn.Store(s.Now().UnixNano())
		s.closeLostAgents()
		s.suspended.Resume()
		s.Logger.Info("the database answers: agents go on")
	}
}

// closeLostAgents closes the agents of sessions that others have taken.
func (h *Hub) closeLostAgents() {
	var closing sync.WaitGroup
	for _, l := range h.inMemory() {
		if l.openedAgent() != nil && h.Log.Owned(l.id) == 0 {
			closing.Go(l.closeAgent)
		}
	}
	closing.Wait()
}
