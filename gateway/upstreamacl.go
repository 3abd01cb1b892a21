package gateway

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
)

// This file asks the servers of agents for the rights of a principal.

// agentsWithACL names the agents whose servers can say what our principals may do there.
func agentsWithACL(h *session.Hub) (names []string) {
	for _, name := range h.AgentNames() {
		if _, is := h.AccessByUser(name); is {
			names = append(names, name)
		}
	}
	return names
}

// lookupAgents names the agents that are asked for a session that is not known here. Only an
// address that names a session is meant for one that is there already.
func (g *gateway) lookupAgents(r *http.Request) []string {
	if strings.HasPrefix(r.URL.Path, "/api/sessions/") {
		return g.agentsWithACL
	}
	return nil
}

// aclAgents names the agents whose servers may know the principal's role in a session, if the
// gateway does not know it. had is why there is no session here. A session that is here and
// somebody else's is looked up like one that is nowhere, so that the answer does not tell
// the two apart.
func (g *gateway) aclAgents(p access.Principal, id string, info session.Info, had error, seek []string) []string {
	_, told := g.Hub.AccessByUser(info.Agent)
	switch {
	case p.ID == "", !p.May(id), session.CheckID(id) != nil, had != nil && !errors.Is(had, session.ErrUnknownSession):
	case had == nil && info.Hosted && told && !p.Role.Allows(access.Admin):
		return []string{info.Agent}
	case had != nil, g.roleIn(p, id, info.ACL()) == 0:
		return seek
	}
	return nil
}

// upstreamRole is what a principal may do in a session that one of the agents' servers has. A
// session that the server knows and p may enter is made here, if it is not known yet. If
// no server can tell, there is no such session.
func (g *gateway) upstreamRole(ctx context.Context, p access.Principal, id string, agents []string) (access.Role, session.Info, error) {
	for _, name := range agents {
		server, _ := g.Hub.AccessByUser(name)
		found, was, err := g.aclCache.find(ctx, lookupKey{lookupCaller{principal: p.ID, agent: name}, id}, func(ctx context.Context) (agent.Found, error) {
			return server.FindUser(ctx, id, p.ID)
		})
		var role access.Role
		if err == nil {
			role, err = access.ParseRole(found.Role)
		}
		if err == nil {
			return g.createHosted(ctx, p, role, session.Spec{ID: id, Agent: name, Title: found.Title, By: found.Owner, Kind: session.Kind(found.Kind), Hosted: true})
		}
		if errors.Is(err, agent.ErrForeign) {
			return 0, session.Info{}, errForeign
		}
		if err := g.lookupError(ctx, name, id, was, err); err != nil {
			return 0, session.Info{}, err
		}
	}
	return 0, session.Info{}, session.ErrUnknownSession
}

// createHosted makes a session that was found, unless it is known.
func (g *gateway) createHosted(ctx context.Context, p access.Principal, role access.Role, spec session.Spec) (access.Role, session.Info, error) {
	info, err := g.Hub.Ensure(ctx, spec)
	if err == nil && (!info.Hosted || info.Agent != spec.Agent) { // made by somebody else meanwhile, by other rules
		if role = g.roleIn(p, info.ID, info.ACL()); role == 0 {
			err = errForeign
		}
	}
	return role, info, err
}

// lookupError is the error for a principal whose rights a server has not named, or nil: there
// is no such session. Only a principal who had access not long ago learns that the server
// could not be reached, because that reveals nothing new to them.
func (g *gateway) lookupError(ctx context.Context, agentName, id string, was bool, err error) error {
	much, is := errors.AsType[*rateLimited](err)
	switch {
	case errors.Is(err, agent.ErrNoSession):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case is:
		return much
	}
	g.Logger.Warn("a session could not be looked up", "agent", agentName, "session", id, "error", err)
	if was {
		return lookupFailed(agentName)
	}
	return nil
}
