package gateway

import (
	"maps"
	"net/http"
	"slices"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/session"
)

// These routes give a user's identity and rights in the words of an Agent Ops server.
// Another gateway whose agent is a session of this one asks them.

// farSession is a session as GET /api/sessions/{id} tells it besides.
type farSession struct {
	ID      string       `json:"id"`
	UserID  string       `json:"userId"`
	Title   string       `json:"title"`
	Purpose session.Kind `json:"purpose,omitempty"`
}

func farSessionOf(info session.Info) farSession {
	return farSession{ID: info.ID, UserID: info.CreatedBy, Title: info.Title, Purpose: info.Kind}
}

type participant struct {
	UserID string      `json:"userId"`
	Role   access.Role `json:"role"`
}

// me returns the sender's identity. A guest's token alone gives none.
func (g *gateway) me(w http.ResponseWriter, r *http.Request) error {
	p, _ := access.From(r.Context())
	if _, guest := access.GuestOf(r.Context()); guest || p.ID == "" {
		return roleTooSmall(p.Role, access.Viewer)
	}
	return writeJSON(w, http.StatusOK, map[string]any{"user": map[string]string{"id": p.ID, "name": p.Name}})
}

// participants are the owner of a session, who asks, and for owners the members.
func (g *gateway) participants(w http.ResponseWriter, r *http.Request) error {
	info, _, _, err := g.Hub.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	p, _ := access.From(r.Context()) // his role is that in the session
	roles := map[string]access.Role{}
	if p.Role == access.Owner {
		for id, role := range info.Members {
			roles[id], _ = access.ParseRole(role)
		}
	}
	if info.CreatedBy != "" {
		roles[info.CreatedBy] = access.Owner
	}
	roles[p.ID] = p.Role
	all := make([]participant, 0, len(roles))
	for _, id := range slices.Sorted(maps.Keys(roles)) {
		all = append(all, participant{id, roles[id]})
	}
	return writeJSON(w, http.StatusOK, map[string]any{"participants": all})
}
