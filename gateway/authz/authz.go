package authz

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
)

// Options configure an Authorizer.
type Options struct {
	Hub *session.Hub
	// Private says that a session is for its creator and its members; else the role of each
	// principal counts in all sessions.
	Private bool
	// Foreign is the status for a session of somebody else: 404, as if there were none, if
	// zero; or 403.
	Foreign int
	// PassThrough names the agent whose server judges pass-through tokens.
	PassThrough string
	// Approvers may answer permission requests.
	Approvers []access.Who
	// Users may use an agent, by its name. An agent without an entry is for everybody.
	Users  map[string][]access.Who
	Logger *slog.Logger
}

// Authorizer decides access to sessions. An Authorizer is safe for concurrent use.
type Authorizer struct {
	Options
	cache    *aclCache
	upstream []string // the agents whose servers can say what our principals may do there
}

// New returns an Authorizer.
func New(o Options) *Authorizer {
	a := &Authorizer{Options: o, cache: newACLCache()}
	for _, name := range o.Hub.AgentNames() {
		if _, is := o.Hub.AccessByUser(name); is {
			a.upstream = append(a.upstream, name)
		}
	}
	return a
}

// ErrForeign says that the sender may not see a session. The answer is the same as for
// a session that does not exist, unless a setting says otherwise.
var ErrForeign = fmt.Errorf("%w", session.ErrUnknownSession)

// ErrBound refuses a token that is good for other sessions only.
var ErrBound = refusal.Forbidden("Your token is good for other sessions only.")

// RoleTooSmall refuses a sender by their role.
func RoleTooSmall(have, need access.Role) error {
	return refusal.Forbidden("Your role is " + have.String() + "; this needs " + need.String() + ".")
}

// Role is the role of a principal in a session of these people, by the rules in
// docs/deploy/security.md. A principal with the zero Role may not know of the session.
func (a *Authorizer) Role(p access.Principal, id string, people session.ACL) access.Role {
	if p.ID == "" || !p.May(id) || people.Kind.Personal() && p.ID != people.Owner {
		return 0
	}
	member, _ := access.ParseRole(people.Members[p.ID]) // no role, if there is none
	switch {
	case !a.Private && !people.Hosted:
		return min(max(p.Role, member), access.Owner)
	case p.ID == people.Owner, p.Role == access.Admin:
		return access.Owner
	}
	return member
}

// RoleIn is the role of the sender of a request in a session of a list, or, if the sender was
// admitted, in the session of the request.
func (a *Authorizer) RoleIn(ctx context.Context, info session.Info) access.Role {
	p, _ := access.From(ctx)
	if Admitted(ctx) {
		return p.Role
	}
	return a.Role(p, info.ID, info.ACL())
}

// admission is how the sender of a request was admitted to a session: the principal
// before that, and the role that the request needs. A context keeps it under an
// admissionKey.
type admission struct {
	sender access.Principal
	need   access.Role
	info   session.Info // as it was then
	// decides says that the sender may not see the session, and only decides on its permission
	// requests.
	decides bool
}

type admissionKey struct{}

func admitted(ctx context.Context) (a admission, is bool) {
	a, is = ctx.Value(admissionKey{}).(admission)
	return a, is
}

// Session is the session to which the sender of a request was admitted, as it was then.
func Session(ctx context.Context) session.Info {
	a, _ := admitted(ctx)
	return a.info
}

// Admitted reports whether the principal of a context has their role in a session.
func Admitted(ctx context.Context) bool {
	_, is := admitted(ctx)
	return is
}

// asReceived is an admitted request as it was before: its sender may have another role in
// the session by now, or none.
func asReceived(r *http.Request) *http.Request {
	a, is := admitted(r.Context())
	if !is {
		return r
	}
	return r.WithContext(access.With(r.Context(), a.sender))
}

// Authorize gives the sender of a request access to a session, if there is one and the
// sender's role in it is enough. In the returned request the principal has that role, and [Session] is the session. If
// the path of the request names the session, and the gateway does not know it, the
// servers of agents are asked for it.
func (a *Authorizer) Authorize(r *http.Request, id string, need access.Role) (*http.Request, error) {
	r, _, err := a.authorize(asReceived(r), id, need, a.lookupAgents(r))
	return r, err
}

func (a *Authorizer) authorize(r *http.Request, id string, need access.Role, lookup []string) (*http.Request, session.Info, error) {
	r, info, err := a.check(r, id, need, lookup)
	if err == nil {
		a.Hub.Touch(info.ID)
	}
	return r, info, err
}

// Check is Authorize for a sender who was admitted earlier. The session stays as idle as it
// is.
func (a *Authorizer) Check(r *http.Request, id string, need access.Role) (*http.Request, error) {
	r, _, err := a.check(asReceived(r), id, need, nil)
	return r, err
}

// Recheck checks the sender of an admitted request again, for a handler that has waited for
// the body. A request that was not admitted needs no role in a session.
func (a *Authorizer) Recheck(r *http.Request, id string) error {
	before, is := admitted(r.Context())
	if !is {
		return nil
	}
	if before.decides {
		_, err := a.AuthorizeApprover(r, id, r.PathValue("request")) //nolint:contextcheck // it is that of the request
		return err
	}
	_, err := a.Check(r, id, before.need)
	return err
}

func (a *Authorizer) check(r *http.Request, id string, need access.Role, lookup []string) (*http.Request, session.Info, error) {
	p, _ := access.From(r.Context())
	if token, is := access.PassThroughOf(r.Context()); is {
		known, info, err := a.authorizePassThrough(r.Context(), token, id)
		if err != nil {
			return r, info, err
		}
		return withRole(r, known, known.Role, need, info)
	}
	role, info, err := a.roleOf(r.Context(), p, id, lookup)
	if err == nil {
		return withRole(r, p, role, need, info)
	}
	switch {
	case !errors.Is(err, session.ErrUnknownSession):
	case !p.Role.Allows(need) && !a.Private: // the same answer whether the session exists or not
		err = RoleTooSmall(p.Role, need)
	case errors.Is(err, ErrForeign) && a.Foreign == http.StatusForbidden:
		err = &refusal.Error{Status: http.StatusForbidden, Code: "foreign_session", Sentence: "This session belongs to somebody else."}
	}
	return r, info, err
}

// roleOf is the role of a principal in a session: never zero, if there is no error.
func (a *Authorizer) roleOf(ctx context.Context, p access.Principal, id string, lookup []string) (access.Role, session.Info, error) {
	there, err := a.Hub.Get(ctx, id)
	info := there.Info
	if agents := a.aclAgents(p, id, info, err, lookup); len(agents) > 0 {
		role, found, refused := a.upstreamRole(ctx, p, id, agents)
		if err == nil && errors.Is(refused, session.ErrUnknownSession) { // it exists, and the sender may not make it
			refused = ErrForeign
		}
		return role, found, refused
	}
	role := a.Role(p, id, info.ACL())
	if err == nil && role == 0 {
		err = ErrForeign
	}
	return role, info, err
}

// withRole admits a sender who may know of the session, if the role is enough.
func withRole(r *http.Request, p access.Principal, role, need access.Role, info session.Info) (*http.Request, session.Info, error) {
	if !role.Allows(need) {
		return r, info, RoleTooSmall(role, need)
	}
	ctx := r.Context()
	before, _ := access.From(ctx)
	p.Role = role
	return r.WithContext(access.With(context.WithValue(ctx, admissionKey{}, admission{sender: before, need: need, info: info}), p)), info, nil
}

// AuthorizeNewOrExisting is Authorize for a route whose body names the session, which the
// request may make. Then info has no id, and is for session.Spec.Looked. A sender who may not make the session gets the same
// answer for a session of another person and for one that does not exist.
func (a *Authorizer) AuthorizeNewOrExisting(r *http.Request, id, agent string) (*http.Request, session.Info, error) {
	p, _ := access.From(r.Context())
	allowed, info, err := r, session.Info{}, error(session.ErrUnknownSession)
	var lookup []string
	if a.upstreamOnly(p, agent) {
		lookup = []string{agent}
	}
	if session.CheckID(id) == nil { // else the making of the session fails, after all other checks
		allowed, info, err = a.authorize(r, id, access.Collaborator, lookup)
	}
	switch {
	case !errors.Is(err, session.ErrUnknownSession):
	case !p.Role.Allows(access.Collaborator):
		err = RoleTooSmall(p.Role, access.Collaborator)
	case !p.May(id):
		err = ErrBound
	case !errors.Is(err, ErrForeign) && len(lookup) == 0:
		err = nil
	}
	return allowed, info, err
}

// AnyRole returns why the sender of a request cannot have a role in any session, or nil.
func (a *Authorizer) AnyRole(ctx context.Context) error {
	p, known := access.From(ctx)
	_, passThrough := access.PassThroughOf(ctx)
	if !known || !passThrough && !a.Private && p.Role == 0 {
		return RoleTooSmall(p.Role, access.Collaborator)
	}
	return nil
}

// Visible selects the sessions that the sender of a request finds in a list, if there are
// any. Pass-through tokens find none, because only the agent's server knows their sessions.
func (a *Authorizer) Visible(ctx context.Context) (c session.Selection, some bool) {
	p, _ := access.From(ctx)
	if p.Role != access.Admin && (a.Private || p.Role == 0) {
		c.Person = p.ID // sessions of other people are not even read
	}
	c.Show = func(id string, people session.ACL) bool { return a.Role(p, id, people) != 0 }
	if a.inApprovers(p) {
		c.Decides = func(id string, people session.ACL) bool { return a.decides(p, id, people) }
	}
	return c, p.ID != ""
}

// VisibleRequests is Visible for the requests that wait. A member of a group of approvers finds the
// permission requests of sessions that they may not see, too.
func (a *Authorizer) VisibleRequests(ctx context.Context) (c session.Selection, some bool) {
	c, some = a.Visible(ctx)
	if sees, decides := c.Show, c.Decides; decides != nil {
		c.Person = ""
		c.Show = func(id string, people session.ACL) bool { return sees(id, people) || decides(id, people) }
	}
	return c, some
}

// Sees reports whether the sender of a request may see a session, and not only decide on its
// permission requests.
func (a *Authorizer) Sees(ctx context.Context, info session.Info) bool {
	before, _ := admitted(ctx)
	return !before.decides && a.RoleIn(ctx, info) != 0
}
