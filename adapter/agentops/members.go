package agentops

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"

	"github.com/tributary-dev/tributary/agent"
)

// The roles of a session's members.
const (
	viewer       = "viewer"
	collaborator = "collaborator"
	owner        = "owner"
)

// UserKey says by which property the users of a server are known here.
type UserKey string

// The properties.
const (
	UserID    UserKey = "user_id"
	UserEmail UserKey = "email"
)

// Roster is a Runtime with a service token that is asked for the rights of users who have their
// own tokens here. The service's token does not tell the rights of members of the organisation
// whom a session does not name.
type Roster struct {
	Runtime
	// By is the property that a user's name here is; UserID if empty.
	By UserKey
}

var _ agent.AccessByUser = Roster{}

// remoteSession is a session as its server describes it.
type remoteSession struct {
	ID             string `json:"id"`
	UserID         string `json:"userId"`
	Title          string `json:"title"`
	Purpose        string `json:"purpose"`
	IsOrchestrator bool   `json:"isOrchestrator"`
}

// kind is what a session is that only its owner may use; "" for any other.
func (s remoteSession) kind() string {
	switch {
	case s.IsOrchestrator:
		return "orchestrator"
	case s.Purpose == "orchestrator", s.Purpose == "workflow":
		return s.Purpose
	}
	return ""
}

// participant is a user with a role in a session.
type participant struct {
	UserID string `json:"userId"`
	Email  string `json:"userEmail"`
	Role   string `json:"role"`
}

// Find implements agent.Directory. Find asks with the caller's own token even if the agent has
// a service token, which may see more than the caller may.
func (r Runtime) Find(ctx context.Context, id string, c agent.Caller) (agent.Found, error) {
	if c.Bearer == "" {
		return agent.Found{}, agent.ErrUnauthorized
	}
	return r.find(id, agent.ErrUnauthorized, func(a *api) (found agent.Found, err error) {
		s, err := a.remoteSession(ctx, id, c)
		if err != nil {
			return found, err
		}
		me, err := a.me(ctx, c)
		if err != nil {
			return found, err
		}
		found = agent.Found{By: me.ID, Title: s.Title, Kind: s.kind(), Role: owner}
		switch {
		case me.ID == "":
			return found, errors.New("agentops: Agent Ops does not say who the caller is")
		case me.ID == s.UserID:
			return found, nil
		case found.Kind != "":
			return found, agent.ErrNoSession
		}
		// A user whom the server does not name may look: no address says what the
		// organisation lets all of its members do.
		p, err := a.participant(ctx, id, me.ID, UserID, c)
		if found.Role = viewer; p.Role == owner || p.Role == collaborator {
			found.Role = p.Role
		}
		return found, err
	})
}

// FindUser implements agent.Roster.
func (r Roster) FindUser(ctx context.Context, id, user string) (agent.Found, error) {
	if user == "" {
		return agent.Found{}, agent.ErrNoSession
	}
	invalid := errors.New("agentops: the service token of the agent is not valid there")
	return r.find(id, invalid, func(a *api) (found agent.Found, err error) {
		service, err := a.as(agent.Caller{})
		if err != nil {
			return found, err
		}
		s, err := a.remoteSession(ctx, id, service)
		if err != nil {
			return found, err
		}
		found = agent.Found{By: user, Title: s.Title, Kind: s.kind(), Role: owner}
		if r.By != UserEmail {
			found.Owner = s.UserID
		}
		switch {
		case found.Owner == user:
			return found, nil
		case found.Kind != "": // and no address tells the e-mail of its owner
			return found, agent.ErrForeign
		}
		p, err := a.participant(ctx, id, user, r.By, service)
		switch {
		case err != nil:
		case p.UserID == "", !slices.Contains([]string{viewer, collaborator, owner}, p.Role):
			err = agent.ErrForeign
		case p.UserID == s.UserID:
			found.Owner = user
		default:
			found.Role = p.Role
		}
		return found, err
	})
}

// find asks a server about a session. Its refusals get their names here.
func (r Runtime) find(id string, unauthorized error, ask func(*api) (agent.Found, error)) (agent.Found, error) {
	if !addressable(id) {
		return agent.Found{}, agent.ErrNoSession
	}
	a, err := r.newAPI()
	if err != nil {
		return agent.Found{}, err
	}
	defer a.close()
	found, err := ask(a)
	switch statusOf(err) {
	case http.StatusUnauthorized:
		err = unauthorized
	case http.StatusNotFound, http.StatusForbidden:
		err = agent.ErrNoSession
	}
	if err != nil {
		return agent.Found{}, err
	}
	return found, nil
}

// remoteSession reads a session, if the caller may look at it.
func (a *api) remoteSession(ctx context.Context, id string, c agent.Caller) (remoteSession, error) {
	var s struct {
		Session remoteSession `json:"session"`
	}
	err := a.get(ctx, c, &s, "sessions", id)
	if err == nil && s.Session.ID != id { // its id means another session to other callers
		err = agent.ErrNoSession
	}
	return s.Session, err
}

// participant finds a member of a session. A name that several have is nobody's.
func (a *api) participant(ctx context.Context, id, user string, by UserKey, c agent.Caller) (found participant, err error) {
	var all struct {
		Participants wire.List[participant] `json:"participants"`
	}
	if err := a.get(ctx, c, &all, "sessions", id, "participants"); err != nil {
		return found, err
	}
	for _, p := range all.Participants {
		if p.UserID == "" || by != UserEmail && p.UserID != user || by == UserEmail && !sameAddress(p.Email, user) {
			continue
		}
		if found.UserID != "" && p != found {
			return participant{}, nil
		}
		found = p
	}
	return found, nil
}

// sameAddress compares e-mail addresses as Agent Ops does, which keeps them in small letters.
// Other letters than those of ASCII must be the same: some turn into others as small letters.
func sameAddress(a, b string) bool {
	small := func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}
	return a != "" && strings.Map(small, a) == strings.Map(small, b)
}
