package gateway

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/tributary-dev/tributary/access"
)

// This file decides who may answer permission requests.

// mayPermit returns why the sender of an admitted request may not answer permission
// requests, or nil. Asking an agent to act and letting it act are two things: what counts
// is the role or the group in the gateway, not that the session is one's own. A session
// on an agent's server is another matter: its owner there answers for it.
func (g *gateway) mayPermit(r *http.Request) error {
	p, _ := access.From(r.Context())
	a, admitted := r.Context().Value(admissionKey{}).(admission)
	_, guest := access.GuestOf(r.Context())
	if (guest || a.hosted) && p.Role.Allows(access.Owner) {
		return nil
	}
	if admitted && !guest {
		p = a.sender
	}
	if !guest && access.Any(g.Permits, p) {
		return nil
	}
	return notAmong(p, g.Permits, "this needs ")
}

// mayUse returns why the sender of a request may not use an agent, or nil.
func (g *gateway) mayUse(ctx context.Context, agent string) error {
	users, limited := g.Users[cmp.Or(agent, g.Hub.Default)]
	p, _ := access.From(ctx)
	if a, admitted := ctx.Value(admissionKey{}).(admission); admitted {
		p = a.sender
	}
	if !limited || access.Any(users, p) {
		return nil
	}
	return notAmong(p, users, "the agent "+cmp.Or(agent, g.Hub.Default)+" is for ")
}

// user lets a request through whose sender may use the session's agent. Every request
// that reaches the agent needs that, and not only a role in the session.
func (g *gateway) user(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		info, _, _, err := g.Hub.Get(r.Context(), r.PathValue("id"))
		if err != nil {
			return err
		}
		if err := g.mayUse(r.Context(), info.Agent); err != nil {
			return err
		}
		return h(w, r)
	}
}

// notAmong says in a sentence that somebody is not among the people who are meant.
func notAmong(p access.Principal, who []access.Who, what string) error {
	names := make([]string, len(who))
	for i, w := range who {
		names[i] = w.String()
	}
	return &httpError{http.StatusForbidden, "forbidden", "Your role is " + p.Role.String() + "; " + what + strings.Join(names, " or ") + "."}
}
