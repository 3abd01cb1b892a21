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

// far is a session as GET /api/sessions/:id tells of it.
type far struct {
	ID             string `json:"id"`
	UserID         string `json:"userId"`
	Title          string `json:"title"`
	Purpose        string `json:"purpose"`
	IsOrchestrator bool   `json:"isOrchestrator"`
}

// alone reports whether only the owner may use the session.
func (f far) alone() bool {
	return f.IsOrchestrator || f.Purpose == "orchestrator" || f.Purpose == "workflow"
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
	var s struct {
		Session far `json:"session"`
	}
	if err := a.call(ctx, c, http.MethodGet, a.at("sessions", id), nil, &s); err != nil {
		return agent.Found{}, err
	}
	if s.Session.ID != id {
		return agent.Found{}, agent.ErrNoSession // it goes by a name that means another session to somebody else
	}
	var me struct {
		User struct {
			ID    string `json:"id"`
			Name  string `json:"name"`
			Email string `json:"email"`
		} `json:"user"`
	}
	if err := a.call(ctx, c, http.MethodGet, a.at("auth", "me"), nil, &me); err != nil {
		return agent.Found{}, err
	}
	found := agent.Found{By: me.User.ID, Title: s.Session.Title}
	if found.By == "" {
		return agent.Found{}, errors.New("agentops: Agent Ops does not say who the caller is")
	}
	if s.Session.UserID == me.User.ID {
		found.Role = owner
		return found, nil
	}
	if s.Session.alone() {
		return agent.Found{}, agent.ErrNoSession
	}
	var err error
	found.Role, err = a.role(ctx, id, found.By, c)
	return found, err
}

// role is what somebody is who does not own the session.
func (a *api) role(ctx context.Context, id, user string, c agent.Caller) (string, error) {
	var all struct {
		Participants wire.List[struct {
			UserID string `json:"userId"`
			Role   string `json:"role"`
		}] `json:"participants"`
	}
	if err := a.call(ctx, c, http.MethodGet, a.at("sessions", id, "participants"), nil, &all); err != nil {
		return "", err
	}
	for _, p := range all.Participants {
		if p.UserID != user {
			continue
		}
		switch p.Role {
		case owner, collaborator:
			return p.Role, nil
		}
		break // a viewer, but perhaps a member of an organisation that may do more
	}
	return a.byVisibility(ctx, id, c)
}

// byVisibility tells what the organisation lets all of its members do. No address
// says it; but a prompt that holds nothing is refused as such only to those who
// may prompt.
func (a *api) byVisibility(ctx context.Context, id string, c agent.Caller) (string, error) {
	err := a.call(ctx, c, http.MethodPost, a.at("sessions", id, "prompt"), map[string]string{"content": ""}, nil)
	switch statusOf(err) {
	case http.StatusBadRequest, http.StatusConflict:
		return collaborator, nil
	case http.StatusNotFound, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return viewer, nil
	}
	if err == nil {
		return "", errors.New("agentops: Agent Ops took a prompt that holds nothing, so the caller's role is not known")
	}
	return "", err
}
