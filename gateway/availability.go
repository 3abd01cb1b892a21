package gateway

import (
	"net/http"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/box"
)

// This file tells which agents can start.

// Availability says whether an agent can start here.
type Availability struct {
	// Known is false until somebody has looked.
	Known, Available bool
	// Reason says why it cannot start, Version which one it is.
	Reason, Version string
}

// agents lists the agents: those too that the sender may not use, or that cannot start.
func (g *gateway) agents(w http.ResponseWriter, r *http.Request) error {
	type agentView struct {
		Name    string `json:"name"`
		Default bool   `json:"default"`
		// Available is missing until it is known.
		Available *bool  `json:"available,omitempty"`
		Reason    string `json:"reason,omitempty"`
		Version   string `json:"version,omitempty"`

		// Box is the form of the box around its processes, BoxReason why it is not the one of the
		// configuration.
		Box       box.Form `json:"box,omitempty"`
		BoxReason string   `json:"box_reason,omitempty"`
		// User is the user of the system as whom its processes run, if it has one of its own.
		User string `json:"user,omitempty"`

		agent.Offers

		Files bool `json:"files"`
	}
	views := []agentView{}
	for _, name := range g.Hub.AgentNames() {
		v := agentView{Name: name, Default: name == g.Hub.Default, Offers: g.Hub.LastOffers(name), Files: g.Hub.Agents[name].Files}
		in := g.Hub.BoxOf(name)
		v.Box, v.BoxReason, v.User = in.Form, in.Reason, in.User
		if g.Availability != nil {
			if a := g.Availability(name); a.Known {
				v.Available, v.Reason, v.Version = &a.Available, a.Reason, a.Version
			}
		}
		if err := g.authz.MayUse(r.Context(), name); err != nil {
			no := false
			v = agentView{Name: name, Default: v.Default, Available: &no, Reason: err.Error()}
		}
		views = append(views, v)
	}
	return writeJSON(w, http.StatusOK, map[string]any{"agents": views})
}
