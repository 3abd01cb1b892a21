package gateway

import (
	"net/http"
	"time"

	"github.com/tributary-dev/tributary/access"
)

// This file has the route that lists conversations of an agent.

// conversationView is a conversation of an agent's own in JSON.
type conversationView struct {
	Resume string `json:"resume"`
	Title  string `json:"title"`
	// Updated is missing if the agent does not tell.
	Updated time.Time `json:"updated,omitzero"`
}

// conversations lists the conversations that an agent keeps by itself and that no session
// has yet.
func (g *gateway) conversations(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("agent")
	if err := g.mayAdopt(r, name); err != nil {
		return err
	}
	all, err := g.Hub.Conversations(r.Context(), name)
	if err != nil {
		return err
	}
	views := make([]conversationView, 0, len(all))
	for _, c := range all {
		views = append(views, conversationView{c.Token, c.Title, c.Updated.UTC()})
	}
	return writeJSON(w, http.StatusOK, map[string]any{"conversations": views})
}

// mayAdopt returns why the sender of a request may not see or use the conversations of an
// agent that were held outside the gateway, or nil. They belong to the user of this
// machine and have no owner here. So the sender must be trusted with that user's rights,
// as approvers are. Where sessions are private, a deleted session may have left one of
// them: then the sender must be an admin too.
func (g *gateway) mayAdopt(r *http.Request, agent string) error {
	p, _ := access.From(r.Context())
	_, guest := access.GuestOf(r.Context())
	switch {
	case p.Bound != nil:
		return errBound
	case guest || !access.Any(g.Permits, p):
		return notAmong(p, g.Permits, "this needs ")
	case g.Private && !p.Role.Allows(access.Admin):
		return roleTooSmall(p.Role, access.Admin)
	}
	return g.mayUse(r.Context(), agent)
}
