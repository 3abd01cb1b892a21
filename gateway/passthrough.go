package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
)

// This file admits callers with tokens of an agent's server.

// authorizePassThrough finds out who a guest is in a session that lives elsewhere: the directory of its
// agent says so. A session that is known there, and not here, is made.
func (g *gateway) authorizePassThrough(ctx context.Context, guest access.Guest, id string) (access.Principal, session.Info, error) {
	if err := session.CheckID(id); err != nil {
		return access.Principal{}, session.Info{}, err
	}
	directory, is := g.Hub.AccessByToken(g.PassThrough)
	info, _, _, err := g.Hub.Get(ctx, id)
	unknown := errors.Is(err, session.ErrUnknownSession)
	switch {
	case err != nil && !unknown:
		return access.Principal{}, info, err
	case !is:
		return access.Principal{}, info, errNoSessionThere
	}
	found, _, err := g.aclCache.find(ctx, lookupKey{lookupCaller{guest: guest.Digest(), agent: g.PassThrough}, id}, func(ctx context.Context) (agent.Found, error) {
		return directory.Find(ctx, id, agent.Caller{Bearer: guest.Bearer()})
	})
	switch {
	case err != nil:
		return access.Principal{}, info, g.notFound(ctx, guest, id, err)
	case !unknown && info.Agent != g.PassThrough: // asked all the same: nobody is to learn that it is here
		return access.Principal{}, info, errNoSessionThere
	}
	role, err := access.ParseRole(found.Role)
	if err != nil {
		return access.Principal{}, info, g.notFound(ctx, guest, id, err)
	}
	p := guest.Known(g.PassThrough, found.By, role)
	if unknown {
		spec := session.Spec{ID: id, Agent: g.PassThrough, Title: found.Title, Kind: session.Kind(found.Kind)}
		_, spec.Hosted = g.Hub.AccessByUser(g.PassThrough) // principals of ours are judged there too, where that can be
		if role == access.Owner {
			spec.By = p.ID
		}
		if info, err = g.Hub.Ensure(ctx, spec); err == nil && info.Agent != g.PassThrough { // made by somebody else meanwhile
			err = errNoSessionThere
		}
	}
	return p, info, err
}

var errNoSessionThere = &httpError{http.StatusNotFound, "unknown_session", "There is no such session."} //nolint:gochecknoglobals // a constant in all but name

// notFound is the refusal for a guest whose session a directory has not found.
func (g *gateway) notFound(ctx context.Context, guest access.Guest, id string, err error) error {
	switch {
	case errors.Is(err, agent.ErrUnauthorized):
		return &httpError{http.StatusUnauthorized, "token_wrong", "The token is not valid here: sign in again, or check the header Authorization."}
	case errors.Is(err, agent.ErrNoSession):
		return errNoSessionThere
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if much, is := errors.AsType[*rateLimited](err); is {
		return much
	}
	why := strings.ReplaceAll(err.Error(), guest.Bearer(), "[token]") // whoever wrote it may have put it there
	g.Logger.Warn("a session could not be looked up", "agent", g.PassThrough, "session", id, "error", why)
	return lookupFailed(g.PassThrough)
}

func lookupFailed(agent string) error {
	return &httpError{
		http.StatusBadGateway, "lookup_failed",
		fmt.Sprintf("The server of the agent %s could not be asked for this session: try again in a moment.", agent),
	}
}

// bearer is the sender's own token, for an agent whose server knows it and nobody here.
func (g *gateway) bearer(ctx context.Context, agentName string) string {
	guest, is := access.GuestOf(ctx)
	if _, lives := g.Hub.AccessByToken(agentName); !is || !lives || agentName != g.PassThrough {
		return ""
	}
	return guest.Bearer()
}
