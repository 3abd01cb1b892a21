package session

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/tributary-dev/tributary/trace"
)

// This file keeps what agents offer: their modes, models and commands.

// Offers are what an agent lists of itself, and what is chosen of it.
type Offers struct {
	Mode     string          `json:"mode,omitempty"`
	Modes    []trace.Mode    `json:"modes,omitempty"`
	Model    string          `json:"model,omitempty"`
	Models   []trace.Model   `json:"models,omitempty"`
	Commands []trace.Command `json:"commands,omitempty"`
}

// mostOffers bounds each list. An agent that offers more shows the first ones.
const mostOffers = 1000

// take takes over a note of the agent, and reports whether it is about an offer. The lists
// are never changed, only replaced.
func (o *Offers) take(d trace.Data) bool {
	var v struct {
		Mode     string          `json:"mode"`
		Current  string          `json:"current"`
		Modes    []trace.Mode    `json:"modes"`
		Models   []trace.Model   `json:"models"`
		Commands []trace.Command `json:"commands"`
	}
	switch d.Name {
	case "mode", "modes", "models", "commands":
		if json.Unmarshal(d.Value, &v) != nil {
			return false
		}
	}
	switch d.Name {
	case "mode":
		o.Mode = v.Mode
	case "modes":
		o.Mode, o.Modes = cmp.Or(v.Current, o.Mode), v.Modes[:min(len(v.Modes), mostOffers)]
	case "models":
		o.Model, o.Models = cmp.Or(v.Current, o.Model), v.Models[:min(len(v.Models), mostOffers)]
	case "commands":
		o.Commands = v.Commands[:min(len(v.Commands), mostOffers)]
	default:
		return false
	}
	return true
}

// offers are what the agents offered last, by the names of the agents.
type offers struct {
	mu   mutex
	last map[string]Offers
}

func (o *offers) get(agent string) Offers {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last[agent]
}

func (o *offers) set(agent string, now Offers) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last == nil {
		o.last = map[string]Offers{}
	}
	now.Mode, now.Model = "", "" // of one session
	o.last[agent] = now
}

// LastOffers are what an agent offered last in any session since the gateway began. They
// are empty before its first one.
func (h *Hub) LastOffers(agent string) Offers { return h.offers.get(agent) }

// offered takes over a note of the session's agent.
func (l *activeSession) offered(d trace.Data) {
	l.mu.Lock()
	told, now, agent := l.offers.take(d), l.offers, l.info.Agent
	l.mu.Unlock()
	if told {
		l.hub.offers.set(agent, now)
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
	Offers

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
		last := h.offers.get(info.Agent)
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
