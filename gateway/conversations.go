package gateway

import (
	"net/http"
	"time"
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
	if err := g.authz.MayAdopt(r.Context(), name); err != nil {
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
