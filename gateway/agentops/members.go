package agentops

import (
	"maps"
	"slices"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/session"
)

// This file gives a user's identity and rights in the words of an Agent Ops server.
// Another gateway whose agent is a session of this one asks for them.

// Session is a session as an Agent Ops server describes it.
type Session struct {
	ID      string       `json:"id"`
	UserID  string       `json:"userId"`
	Title   string       `json:"title"`
	Purpose session.Kind `json:"purpose,omitempty"`
}

// SessionOf describes a session.
func SessionOf(info session.Info) Session {
	return Session{ID: info.ID, UserID: info.CreatedBy, Title: info.Title, Purpose: info.Kind}
}

// Me is the answer to a user who asks who they are.
func Me(p access.Principal) any {
	return map[string]any{"user": map[string]string{"id": p.ID, "name": p.Name}}
}

type participant struct {
	UserID string      `json:"userId"`
	Role   access.Role `json:"role"`
}

// Participants are the people of a session whom p may know: the creator and p, and all
// members if p is an owner. The role of p is that in the session.
func Participants(info session.Info, p access.Principal) any {
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
	return map[string]any{"participants": all}
}
