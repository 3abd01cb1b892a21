package server

import (
	"maps"
	"slices"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/session"
)

// These types give a user's identity and rights in the words of an Agent Ops server.
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

// Me is the answer to the question who a user is.
type Me struct {
	User struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"user"`
}

// MeOf says who a user is.
func MeOf(p access.Principal) (m Me) {
	m.User.ID, m.User.Name = p.ID, p.Name
	return m
}

// Participants are people of a session.
type Participants struct {
	Participants []Participant `json:"participants"`
}

// Participant is one of them.
type Participant struct {
	UserID string      `json:"userId"`
	Role   access.Role `json:"role"`
}

// ParticipantsOf are the people of a session whom p may know: the creator and p, and all
// members if p is an owner. The role of p is that in the session.
func ParticipantsOf(info session.Info, p access.Principal) Participants {
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
	all := Participants{Participants: make([]Participant, 0, len(roles))}
	for _, id := range slices.Sorted(maps.Keys(roles)) {
		all.Participants = append(all.Participants, Participant{id, roles[id]})
	}
	return all
}
