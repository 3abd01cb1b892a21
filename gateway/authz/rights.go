package authz

import (
	"cmp"
	"context"
	"net/http"
	"slices"
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
	return a.mayPermit(r.Context(), p.Role, before.info.Hosted)
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
	if p, _ := access.From(ctx); !question && !Admitted(ctx) && a.decides(p, info.ID, info.ACL()) {
		return true
	}
	if question {
		return role.Allows(access.Collaborator) && a.MayUse(ctx, info.Agent) == nil
	}
	return role.Allows(access.Viewer) && a.mayPermit(ctx, role, info.Hosted) == nil
}

// inApprovers reports whether a principal approves as the member of a group. A role does not make
// an approver of sessions that they may not see: with `approver: collaborator` everybody would read
// what others ask for.
func (a *Authorizer) inApprovers(p access.Principal) bool {
	return p.Role.Allows(access.Viewer) && slices.ContainsFunc(a.Approvers, func(w access.Who) bool { return w.Group != "" && w.Includes(p) })
}

// decides reports whether a principal may decide on the permission requests of a session, whether
// they may see it or not. Neither a session of its owner alone nor one on an agent's server is
// decided on that way.
func (a *Authorizer) decides(p access.Principal, id string, people session.ACL) bool {
	return a.inApprovers(p) && p.May(id) && !people.Hosted && !people.Kind.Personal()
}

// AuthorizeApprover admits a member of a group of approvers to a permission request of a session
// that they may not see, or, if request is empty, to those that wait there. Where there is none,
// the error is the same as for a session that does not exist.
func (a *Authorizer) AuthorizeApprover(r *http.Request, id, request string) (*http.Request, error) {
	r = asReceived(r)
	p, _ := access.From(r.Context())
	there, err := a.Hub.Get(r.Context(), id)
	if err != nil || !a.decides(p, id, there.Info.ACL()) || !a.Hub.AsksPermission(r.Context(), id, request) {
		return r, ErrForeign
	}
	decider := p
	decider.Role = access.Viewer
	ctx := context.WithValue(r.Context(), admissionKey{}, admission{sender: p, need: access.Viewer, decides: true})
	return r.WithContext(access.With(ctx, decider)), nil
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
