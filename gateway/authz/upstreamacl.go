package authz

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
)

// This file asks the servers of agents for the rights of a principal.

// lookupAgents names the agents whose servers are asked for an unknown session. Only an
// address that names a session is meant for one that exists already.
func (a *Authorizer) lookupAgents(r *http.Request) []string {
	if strings.HasPrefix(r.URL.Path, "/api/sessions/") {
		return a.upstream
	}
	return nil
}

// aclAgents names the agents whose servers may know the principal's role in a session, if the
// gateway does not know it. err is the error of the gateway's own search. A session of
// somebody else is looked up like one that does not exist, so that the answer does not tell
// the two apart.
func (a *Authorizer) aclAgents(p access.Principal, id string, info session.Info, err error, lookup []string) []string {
	_, judges := a.Hub.AccessByUser(info.Agent)
	switch {
	case p.ID == "", !p.May(id), session.CheckID(id) != nil, err != nil && !errors.Is(err, session.ErrUnknownSession):
	case err == nil && info.Hosted && judges && !p.Role.Allows(access.Admin):
		return []string{info.Agent}
	case err != nil, a.Role(p, id, info.ACL()) == 0:
		return lookup
	}
	return nil
}

// upstreamRole asks the servers of agents for the role of a principal in a session. A
// session in which p has a role is made here, if the gateway does not know it yet. If no
// server knows the session, there is no such session.
func (a *Authorizer) upstreamRole(ctx context.Context, p access.Principal, id string, agents []string) (access.Role, session.Info, error) {
	for _, name := range agents {
		server, _ := a.Hub.AccessByUser(name)
		found, was, err := a.cache.find(ctx, lookupKey{lookupCaller{principal: p.ID, agent: name}, id}, func(ctx context.Context) (agent.Found, error) {
			return server.FindUser(ctx, id, p.ID)
		})
		var role access.Role
		if err == nil {
			role, err = access.ParseRole(found.Role)
		}
		if err == nil {
			return a.createHosted(ctx, p, role, session.Spec{ID: id, Agent: name, Title: found.Title, By: found.Owner, Kind: session.Kind(found.Kind), Hosted: true})
		}
		if errors.Is(err, agent.ErrForeign) {
			return 0, session.Info{}, ErrForeign
		}
		if err := a.lookupError(ctx, name, id, was, err); err != nil {
			return 0, session.Info{}, err
		}
	}
	return 0, session.Info{}, session.ErrUnknownSession
}

// createHosted makes a session that was found, unless the gateway knows it.
func (a *Authorizer) createHosted(ctx context.Context, p access.Principal, role access.Role, spec session.Spec) (access.Role, session.Info, error) {
	info, err := a.Hub.Ensure(ctx, spec)
	if err == nil && (!info.Hosted || info.Agent != spec.Agent) { // another request has made it meanwhile, by other rules
		if role = a.Role(p, info.ID, info.ACL()); role == 0 {
			err = ErrForeign
		}
	}
	return role, info, err
}

// lookupError is the error for a principal whose rights a server has not named, or nil: there
// is no such session. Only a principal who had access not long ago learns that the server
// could not be reached, because that reveals nothing new to them.
func (a *Authorizer) lookupError(ctx context.Context, agentName, id string, was bool, err error) error {
	much, is := errors.AsType[*refusal.Error](err)
	switch {
	case errors.Is(err, agent.ErrNoSession):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case is:
		return much
	}
	a.Logger.Warn("a session could not be looked up", "agent", agentName, "session", id, "error", err)
	if was {
		return lookupFailed(agentName)
	}
	return nil
}
