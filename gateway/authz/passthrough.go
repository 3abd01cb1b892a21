package authz

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
)

// This file admits callers with tokens of an agent's server.

// authorizePassThrough asks the server of the agent for the role of the token's holder in a
// session. A session that only the server knows is made here.
func (a *Authorizer) authorizePassThrough(ctx context.Context, token access.PassThrough, id string) (access.Principal, session.Info, error) {
	if err := session.CheckID(id); err != nil {
		return access.Principal{}, session.Info{}, err
	}
	directory, is := a.Hub.AccessByToken(a.PassThrough)
	there, err := a.Hub.Get(ctx, id)
	info := there.Info
	unknown := errors.Is(err, session.ErrUnknownSession)
	switch {
	case err != nil && !unknown:
		return access.Principal{}, info, err
	case !is:
		return access.Principal{}, info, errNoSessionThere
	}
	found, _, err := a.cache.find(ctx, lookupKey{lookupCaller{token: token.Digest(), agent: a.PassThrough}, id}, func(ctx context.Context) (agent.Found, error) {
		return directory.Find(ctx, id, agent.Caller{Bearer: token.Bearer()})
	})
	switch {
	case err != nil:
		return access.Principal{}, info, a.notFound(ctx, token, id, err)
	case !unknown && info.Agent != a.PassThrough: // asked all the same, so that the time of the answer does not tell that it exists
		return access.Principal{}, info, errNoSessionThere
	}
	role, err := access.ParseRole(found.Role)
	if err != nil {
		return access.Principal{}, info, a.notFound(ctx, token, id, err)
	}
	p := token.Known(a.PassThrough, found.By, role)
	if unknown {
		spec := session.Spec{ID: id, Agent: a.PassThrough, Title: found.Title, Kind: session.Kind(found.Kind)}
		_, spec.Hosted = a.Hub.AccessByUser(a.PassThrough) // the server judges our principals too, if it can
		if role == access.Owner {
			spec.By = p.ID
		}
		if info, err = a.Hub.Ensure(ctx, spec); err == nil && info.Agent != a.PassThrough { // another request has made it meanwhile
			err = errNoSessionThere
		}
	}
	return p, info, err
}

var errNoSessionThere = &refusal.Error{Status: http.StatusNotFound, Code: "unknown_session", Sentence: "There is no such session."}

// notFound is the error for a pass-through token whose session the server has not found.
func (a *Authorizer) notFound(ctx context.Context, token access.PassThrough, id string, err error) error {
	switch {
	case errors.Is(err, agent.ErrUnauthorized):
		return &refusal.Error{Status: http.StatusUnauthorized, Code: "token_wrong", Sentence: "The token is not valid here: sign in again, or check the header Authorization."}
	case errors.Is(err, agent.ErrNoSession):
		return errNoSessionThere
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if much, is := errors.AsType[*refusal.Error](err); is { // of the cache
		return much
	}
	why := strings.ReplaceAll(err.Error(), token.Bearer(), "[token]") // the server may have repeated it
	a.Logger.Warn("a session could not be looked up", "agent", a.PassThrough, "session", id, "error", why)
	return lookupFailed(a.PassThrough)
}

func lookupFailed(agent string) error {
	return &refusal.Error{
		Status: http.StatusBadGateway, Code: "lookup_failed",
		Sentence: fmt.Sprintf("The server of the agent %s could not be asked for this session: try again in a moment.", agent),
	}
}

// Bearer is the sender's own token, for an agent whose server judges it; else it is empty.
func (a *Authorizer) Bearer(ctx context.Context, agentName string) string {
	token, is := access.PassThroughOf(ctx)
	if _, judges := a.Hub.AccessByToken(agentName); !is || !judges || agentName != a.PassThrough {
		return ""
	}
	return token.Bearer()
}
