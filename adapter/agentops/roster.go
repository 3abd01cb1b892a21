package agentops

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/tributary-dev/tributary/agent"
)

// UserKey says by what the users of a server are known here.
type UserKey string

// What a server tells of its users, and somebody else may have for a name.
const (
	UserID    UserKey = "user_id"
	UserEmail UserKey = "email"
)

// Roster is a Runtime with a service token that is asked what others may do: those who
// are known here by their own tokens. Of members of the organisation who are not named
// in a session nobody can tell by the service's token what they may do there.
type Roster struct {
	Runtime
	// By is what a user's name here is there; UserID if empty.
	By UserKey
}

var _ agent.Roster = Roster{}

// FindUser implements agent.Roster.
func (r Roster) FindUser(ctx context.Context, sessionID, user string) (agent.Found, error) {
	if user == "" || !addressable(sessionID) {
		return agent.Found{}, agent.ErrNoSession
	}
	a, err := r.newAPI()
	if err != nil {
		return agent.Found{}, err
	}
	defer a.client.CloseIdleConnections()
	service, err := a.as(agent.Caller{})
	if err != nil {
		return agent.Found{}, err
	}
	found, err := a.findUser(ctx, sessionID, user, r.By, service)
	switch statusOf(err) {
	case http.StatusUnauthorized:
		return agent.Found{}, errors.New("agentops: the service token of the agent is not valid there")
	case http.StatusNotFound, http.StatusForbidden:
		return agent.Found{}, agent.ErrNoSession
	}
	return found, err
}

// findUser is the other side's own check of access, for somebody else.
func (a *api) findUser(ctx context.Context, id, user string, by UserKey, service agent.Caller) (agent.Found, error) {
	s, err := a.remoteSession(ctx, id, service)
	if err != nil {
		return agent.Found{}, err
	}
	found := agent.Found{By: user, Title: s.Title, Kind: s.kind()}
	if by != UserEmail {
		found.Owner = s.UserID
	}
	if found.Owner == user {
		found.Role = owner
		return found, nil
	}
	if found.Kind != "" { // and nobody says there what address its owner has
		return agent.Found{}, agent.ErrForeign
	}
	all, err := a.participants(ctx, id, service)
	if err != nil {
		return agent.Found{}, err
	}
	one, is := named(all, user, by)
	switch {
	case !is:
		return agent.Found{}, agent.ErrForeign
	case one.UserID == s.UserID:
		found.Role, found.Owner = owner, user
	case one.Role == viewer, one.Role == collaborator, one.Role == owner:
		found.Role = one.Role
	default:
		return agent.Found{}, agent.ErrForeign
	}
	return found, nil
}

// named finds the one who goes by a name. A name that several have is nobody's.
func named(all []participant, user string, by UserKey) (one participant, is bool) {
	for _, p := range all {
		if p.UserID == "" || by != UserEmail && p.UserID != user || by == UserEmail && !sameAddress(p.Email, user) {
			continue
		}
		if is && p != one {
			return participant{}, false
		}
		one, is = p, true
	}
	return one, is
}

// sameAddress compares addresses of mail as Agent Ops does, which keeps them in small
// letters. Letters beyond ASCII must be the same: some look like others when they are
// made small.
func sameAddress(a, b string) bool {
	return a != "" && lower(a) == lower(b)
}

func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
