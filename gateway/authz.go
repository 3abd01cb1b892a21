package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/session"
)

// This file decides access to sessions.

// errForeign says that the sender may not see a session. The answer is the same as for
// a session that does not exist, unless a setting says otherwise.
var errForeign = fmt.Errorf("%w", session.ErrUnknownSession)

// roleIn is what somebody may do in a session of these people, by the rules that
// docs/deploy/security.md states. The zero Role may not even know of it.
func (g *gateway) roleIn(p access.Principal, id string, people session.ACL) access.Role {
	if p.ID == "" || !p.May(id) || people.Kind.Personal() && p.ID != people.Owner {
		return 0
	}
	member, _ := access.ParseRole(people.Members[p.ID]) // no role, if there is none
	switch {
	case !g.Private && !people.Hosted:
		return min(max(p.Role, member), access.Owner)
	case p.ID == people.Owner, p.Role == access.Admin:
		return access.Owner
	}
	return member
}

// authorize gives the sender of a request access to a session, if there is one and the
// sender's role in it is enough. In the returned request the principal has that role. A
// session that the gateway does not know is looked up on the agents' servers.
func (g *gateway) authorize(r *http.Request, id string, need access.Role, seek ...string) (*http.Request, session.Info, error) {
	r, info, err := g.checkAccess(r, id, need, seek...)
	if err == nil {
		g.Hub.Touch(info.ID)
	}
	return r, info, err
}

// checkAccess is admit for who is there already, and has not said anything just now.
func (g *gateway) checkAccess(r *http.Request, id string, need access.Role, seek ...string) (*http.Request, session.Info, error) {
	p, _ := access.From(r.Context())
	if guest, is := access.GuestOf(r.Context()); is {
		known, info, err := g.authorizePassThrough(r.Context(), guest, id)
		if err != nil {
			return r, info, err
		}
		return withRole(r, known, known.Role, need, info)
	}
	role, info, err := g.roleOf(r.Context(), p, id, seek)
	if err == nil {
		return withRole(r, p, role, need, info)
	}
	switch {
	case !errors.Is(err, session.ErrUnknownSession):
	case !p.Role.Allows(need) && !g.Private: // so it was before anybody looked for the session
		err = roleTooSmall(p.Role, need)
	case errors.Is(err, errForeign) && g.ForeignSession == http.StatusForbidden:
		err = &httpError{http.StatusForbidden, "foreign_session", "This session belongs to somebody else."}
	}
	return r, session.Info{}, err
}

// roleOf is what a principal may do in a session: never nothing, if there is no error.
func (g *gateway) roleOf(ctx context.Context, p access.Principal, id string, seek []string) (access.Role, session.Info, error) {
	info, _, _, err := g.Hub.Get(ctx, id)
	if agents := g.aclAgents(p, id, info, err, seek); len(agents) > 0 {
		role, found, told := g.upstreamRole(ctx, p, id, agents)
		if err == nil && errors.Is(told, session.ErrUnknownSession) { // it is here, and is not made by whoever asks
			told = errForeign
		}
		return role, found, told
	}
	role := g.roleIn(p, id, info.ACL())
	if err == nil && role == 0 {
		err = errForeign
	}
	return role, info, err
}

// withRole is the end of judge for somebody who may know of the session.
func withRole(r *http.Request, p access.Principal, role, need access.Role, info session.Info) (*http.Request, session.Info, error) {
	if !role.Allows(need) {
		return r, info, roleTooSmall(role, need)
	}
	ctx := r.Context()
	before, _ := access.From(ctx)
	p.Role = role
	return r.WithContext(access.With(context.WithValue(ctx, admissionKey{}, admission{before, need, info.Hosted}), p)), info, nil
}

func roleTooSmall(have, need access.Role) error {
	return &httpError{http.StatusForbidden, "forbidden", "Your role is " + have.String() + "; this needs " + need.String() + "."}
}

// member lets a request through if its sender has the role in the session that the
// path names. If the sender may see no such session, unseen answers; if unseen is nil,
// the status does.
func (g *gateway) member(need access.Role, h, unseen handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		admitted, _, err := g.authorize(r, r.PathValue("id"), need, g.lookupAgents(r)...)
		if unseen != nil && errors.Is(err, session.ErrUnknownSession) {
			return unseen(w, r)
		}
		if err != nil {
			return err
		}
		return h(w, admitted)
	}
}

// adapter is member for the RFC's route: whose role is too small hears that there is no
// such session, and a session may keep AI SDK clients out.
func (g *gateway) adapter(need access.Role, h, unseen handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		admitted, _, err := g.authorizeRFC(r, need)
		switch {
		case errors.Is(err, errTooSmall):
			return err
		case unseen != nil && errors.Is(err, session.ErrUnknownSession):
			return unseen(w, r)
		case err != nil:
			return err
		}
		return h(w, admitted)
	}
}

// errTooSmall says in the words of errForeign that a role is too small.
var errTooSmall = fmt.Errorf("%w", session.ErrUnknownSession)

// authorizeRFC is admit by the rules of the RFC's route.
func (g *gateway) authorizeRFC(r *http.Request, need access.Role) (*http.Request, session.Info, error) {
	admitted, info, err := g.authorize(r, r.PathValue("id"), need, g.lookupAgents(r)...)
	small, is := errors.AsType[*httpError](err)
	switch {
	case is && small.code == "forbidden" && g.ForeignSession != http.StatusForbidden:
		return r, info, errTooSmall
	case err == nil && info.NoChat:
		return r, info, nowhere(r)
	}
	return admitted, info, err
}

// authorizeNewOrExisting is admit for a route whose body names the session, which it may have made.
// Then info is empty. A sender who may not make the session gets the same answer
// for a session of another person and for one that does not exist.
func (g *gateway) authorizeNewOrExisting(r *http.Request, id, agent string) (*http.Request, session.Info, error) {
	p, _ := access.From(r.Context())
	admitted, info, err := r, session.Info{}, error(session.ErrUnknownSession)
	var seek []string
	if g.foundOnly(p, agent) {
		seek = []string{agent}
	}
	if session.CheckID(id) == nil { // else whoever makes the session says what is wrong, after all else
		admitted, info, err = g.authorize(r, id, access.Collaborator, seek...)
	}
	switch {
	case !errors.Is(err, session.ErrUnknownSession):
	case !p.Role.Allows(access.Collaborator):
		err = roleTooSmall(p.Role, access.Collaborator)
	case !p.May(id):
		err = errBound
	case !errors.Is(err, errForeign) && len(seek) == 0:
		err = nil
	}
	return admitted, info, err
}

// foundOnly reports whether p may have only those sessions with an agent that the
// agent's server grants to p. The service's token would open every session.
func (g *gateway) foundOnly(p access.Principal, agent string) bool {
	_, is := g.Hub.AccessByUser(agent)
	return is && g.Private && !p.Role.Allows(access.Admin)
}

// mayCreate returns why the sender of a request may not make a session with an agent, or
// nil. For the agent that judges tokens, the agent's server says who owns a session. So
// another person cannot take the id beforehand and read later what the owner says.
func (g *gateway) mayCreate(r *http.Request, agent string) error {
	p, _ := access.From(r.Context())
	agent = cmp.Or(agent, g.Hub.Default)
	if g.foundOnly(p, agent) {
		return &httpError{http.StatusForbidden, "forbidden", "Sessions with the agent " + agent + " are made on its server: make it there, and use it here by its id."}
	}
	if !g.Private || g.PassThrough == "" || agent != g.PassThrough || p.Role.Allows(access.Admin) {
		return nil
	}
	return &httpError{http.StatusForbidden, "forbidden", "Sessions with the agent " + g.PassThrough + " are made elsewhere: come with a token of its server."}
}

var errBound = &httpError{http.StatusForbidden, "forbidden", "Your token is good for other sessions only."} //nolint:gochecknoglobals // a constant in all but name

// anyRole lets a request through whose sender could have the role in some session.
func (g *gateway) anyRole(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, ok := access.From(r.Context())
		_, guest := access.GuestOf(r.Context())
		if !ok || !guest && !g.Private && p.Role == 0 {
			return roleTooSmall(p.Role, access.Collaborator)
		}
		return h(w, r)
	}
}

// visible tells which sessions the sender of a request finds in a list, if any. Guests
// find none, because only the agent's server knows their sessions.
func (g *gateway) visible(ctx context.Context) (c session.Selection, some bool) {
	p, _ := access.From(ctx)
	if p.Role != access.Admin && (g.Private || p.Role == 0) {
		c.Person = p.ID // the others' sessions are not even read
	}
	c.Show = func(id string, people session.ACL) bool { return g.roleIn(p, id, people) != 0 }
	return c, p.ID != ""
}
