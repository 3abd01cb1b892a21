package session

import (
	"cmp"
	"context"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// This file keeps what agents offer: their modes, models and commands.

// LastOffers are what an agent offered last in any session since the gateway began. They
// are empty before its first one.
func (h *Hub) LastOffers(name string) agent.Offers {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.offers[name]
}

// offered takes over a note of the session's agent.
func (l *activeSession) offered(d trace.Data) {
	l.mu.Lock()
	told, now, name := l.offers.Take(d), l.offers, l.info.Agent
	l.mu.Unlock()
	if told {
		now.Mode, now.Model = "", "" // of one session
		l.hub.mu.Lock()
		l.hub.offers[name] = now
		l.hub.mu.Unlock()
	}
}

// chosen notes the mode and the model that a user has chosen in a session.
func (h *Hub) chosen(session string, c Change) {
	l := h.ifInMemory(session)
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.Mode != nil {
		l.offers.Mode = *c.Mode
	}
	if c.Model != nil {
		l.offers.Model = *c.Model
	}
}

// Controls are what users can choose in a session.
type Controls struct {
	agent.Offers

	// Steer says that the running turn takes messages.
	Steer bool `json:"steer"`
	// Files says that the files of the workspace are listed.
	Files bool `json:"files"`
}

// Controls tells what users can choose in a session. While its agent has listed nothing yet,
// the lists are those of the agent's newest session.
func (h *Hub) Controls(ctx context.Context, session string) (Controls, error) {
	return use(ctx, h, session, func(l *activeSession) (Controls, error) {
		l.mu.Lock()
		c, info := Controls{Offers: l.offers}, l.info
		l.mu.Unlock()
		last := h.LastOffers(info.Agent)
		c.Mode, c.Model = cmp.Or(c.Mode, info.Mode), cmp.Or(c.Model, info.Model, h.Agents[info.Agent].Model)
		if c.Modes == nil {
			c.Modes = last.Modes
		}
		if c.Models == nil {
			c.Models = last.Models
		}
		if c.Commands == nil {
			c.Commands = last.Commands
		}
		c.Steer, c.Files = l.controls().Steer != nil, h.Agents[info.Agent].Files
		return c, nil
	})
}
