package agentops

import (
	"context"
	"errors"
	"net/http"

	wire "github.com/tributary-dev/tributary/agentops"

	"github.com/tributary-dev/tributary/agent"
)

// The roles of a session's members.
const (
	viewer       = "viewer"
	collaborator = "collaborator"
	owner        = "owner"
)

// remoteSession is a session as GET /api/sessions/:id tells of it.
type remoteSession struct {
	ID             string `json:"id"`
	UserID         string `json:"userId"`
	Title          string `json:"title"`
	Purpose        string `json:"purpose"`
	IsOrchestrator bool   `json:"isOrchestrator"`
}

// kind is what a session is that only its owner may use; "" for any other.
func (f remoteSession) kind() string {
	switch {
	case f.IsOrchestrator:
		return "orchestrator"
	case f.Purpose == "orchestrator", f.Purpose == "workflow":
		return f.Purpose
	}
	return ""
}

// participant is somebody who takes part in a session; its owner stands among them.
type participant struct {
	UserID string `json:"userId"`
	Email  string `json:"userEmail"`
	Role   string `json:"role"`
}

// Find implements agent.Directory. It asks with the caller's own token, also where
// the agent has a service token: that one may see more than the caller may.
func (r Runtime) Find(ctx context.Context, sessionID string, c agent.Caller) (agent.Found, error) {
	if c.Bearer == "" {
		return agent.Found{}, agent.ErrUnauthorized
	}
	if !addressable(sessionID) {
		return agent.Found{}, agent.ErrNoSession
	}
	a, err := r.newAPI()
	if err != nil {
		return agent.Found{}, err
	}
	defer a.client.CloseIdleConnections()
	found, err := a.find(ctx, sessionID, c)
	switch statusOf(err) {
	case http.StatusUnauthorized:
		return agent.Found{}, agent.ErrUnauthorized
	case http.StatusNotFound, http.StatusForbidden:
		return agent.Found{}, agent.ErrNoSession
	}
	return found, err
}

func (a *api) find(ctx context.Context, id string, c agent.Caller) (agent.Found, error) {
	s, err := a.remoteSession(ctx, id, c)
	if err != nil {
		return agent.Found{}, err
	}
	var me struct {
		User struct {
			ID    string `json:"id"`
			Name  string `json:"name"`
			Email string `json:"email"`
		} `json:"user"`
	}
	if err := a.call(ctx, c, http.MethodGet, pathOf("auth", "me"), nil, &me); err != nil {
		return agent.Found{}, err
	}
	found := agent.Found{By: me.User.ID, Title: s.Title, Kind: s.kind()}
	if found.By == "" {
		return agent.Found{}, errors.New("agentops: Agent Ops does not say who the caller is")
	}
	if s.UserID == me.User.ID {
		found.Role = owner
		return found, nil
	}
	if s.kind() != "" {
		return agent.Found{}, agent.ErrNoSession
	}
	found.Role, err = a.role(ctx, id, found.By, c)
	return found, err
}

// remoteSession reads what a session is, if the caller may look at it.
func (a *api) remoteSession(ctx context.Context, id string, c agent.Caller) (remoteSession, error) {
	var s struct {
		Session remoteSession `json:"session"`
	}
	if err := a.call(ctx, c, http.MethodGet, pathOf("sessions", id), nil, &s); err != nil {
		return remoteSession{}, err
	}
	if s.Session.ID != id {
		return remoteSession{}, agent.ErrNoSession // it goes by a name that means another session to somebody else
	}
	return s.Session, nil
}

func (a *api) participants(ctx context.Context, id string, c agent.Caller) ([]participant, error) {
	var all struct {
		Participants wire.List[participant] `json:"participants"`
	}
	err := a.call(ctx, c, http.MethodGet, pathOf("sessions", id, "participants"), nil, &all)
	return all.Participants, err
}

// role is what somebody is who does not own the session. Whom the server does not name may
// look: no address says what the organisation lets all of its members do.
func (a *api) role(ctx context.Context, id, user string, c agent.Caller) (string, error) {
	all, err := a.participants(ctx, id, c)
	if err != nil {
		return "", err
	}
	for _, p := range all {
		if p.UserID == user && (p.Role == owner || p.Role == collaborator) {
			return p.Role, nil
		}
	}
	return viewer, nil
}
