package authz

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
)

// This file decides what needs more than a role in a session.

// MayPermit returns why the sender of an admitted request may not answer permission
// requests, or nil. Asking an agent to act and letting it act are two rights: the second
// needs the role or the group in the gateway, not a session of one's own. Only in a session
// on an agent's server, its owner there may answer.
func (a *Authorizer) MayPermit(r *http.Request) error {
	p, _ := access.From(r.Context())
	before, _ := admitted(r.Context())
	return a.mayPermit(r.Context(), p.Role, before.hosted)
}

// mayPermit is MayPermit for a role in the session.
func (a *Authorizer) mayPermit(ctx context.Context, role access.Role, hosted bool) error {
	p, _ := access.From(ctx)
	before, is := admitted(ctx)
	_, passThrough := access.PassThroughOf(ctx)
	if (passThrough || hosted) && role.Allows(access.Owner) {
		return nil
	}
	if is && !passThrough {
		p = before.sender
	}
	if !passThrough && access.Any(a.Approvers, p) {
		return nil
	}
	return notAmong(p, a.Approvers, "this needs ")
}

// MayAnswer reports whether the sender of a request may answer a question or a permission
// request of a session that they may see.
func (a *Authorizer) MayAnswer(ctx context.Context, info session.Info, question bool) bool {
	role := a.RoleIn(ctx, info)
	if question {
		return role.Allows(access.Collaborator) && a.MayUse(ctx, info.Agent) == nil
	}
	return role.Allows(access.Viewer) && a.mayPermit(ctx, role, info.Hosted) == nil
}

// MayUse returns why the sender of a request may not use an agent, or nil.
func (a *Authorizer) MayUse(ctx context.Context, agent string) error {
	agent = cmp.Or(agent, a.Hub.Default)
	users, limited := a.Users[agent]
	p, _ := access.From(ctx)
	if before, is := admitted(ctx); is {
		p = before.sender
	}
	if !limited || access.Any(users, p) {
		return nil
	}
	return notAmong(p, users, "the agent "+agent+" is for ")
}

// MayCreate returns why the sender of a request may not make a session with an agent, or
// nil. For the agent that judges tokens, the agent's server says who owns a session. So
// another person cannot take the id beforehand and read later what the owner says.
func (a *Authorizer) MayCreate(ctx context.Context, agent string) error {
	p, _ := access.From(ctx)
	agent = cmp.Or(agent, a.Hub.Default)
	if a.upstreamOnly(p, agent) {
		return refusal.Forbidden("Sessions with the agent " + agent + " are made on its server: make it there, and use it here by its id.")
	}
	if !a.Private || a.PassThrough == "" || agent != a.PassThrough || p.Role.Allows(access.Admin) {
		return nil
	}
	return refusal.Forbidden("Sessions with the agent " + a.PassThrough + " are made elsewhere: come with a token of its server.")
}

// upstreamOnly reports whether p may have only those sessions with an agent that the
// agent's server grants to p. The service's token would open every session.
func (a *Authorizer) upstreamOnly(p access.Principal, agent string) bool {
	_, is := a.Hub.AccessByUser(agent)
	return is && a.Private && !p.Role.Allows(access.Admin)
}

// MayAdopt returns why the sender of a request may not see or use the conversations of an
// agent that were held outside the gateway, or nil. They belong to the user of this
// machine and have no owner here. So the sender must be trusted with that user's rights,
// as approvers are. Where sessions are private, a deleted session may have left one of
// them: then the sender must be an admin too.
func (a *Authorizer) MayAdopt(ctx context.Context, agent string) error {
	p, _ := access.From(ctx)
	_, passThrough := access.PassThroughOf(ctx)
	switch {
	case p.Bound != nil:
		return ErrBound
	case passThrough || !access.Any(a.Approvers, p):
		return notAmong(p, a.Approvers, "this needs ")
	case a.Private && !p.Role.Allows(access.Admin):
		return RoleTooSmall(p.Role, access.Admin)
	}
	return a.MayUse(ctx, agent)
}

// notAmong refuses a principal who is not among the people who are meant.
func notAmong(p access.Principal, who []access.Who, what string) error {
	names := make([]string, len(who))
	for i, w := range who {
		names[i] = w.String()
	}
	return refusal.Forbidden("Your role is " + p.Role.String() + "; " + what + strings.Join(names, " or ") + ".")
}
