package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/gateway/authz"
	"github.com/tributary-dev/tributary/gateway/chatbody"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// This file has the checks in front of the handlers.

func caller(r *http.Request) string {
	p, _ := access.From(r.Context())
	return p.ID
}

// allow lets a request through whose sender has the role in the gateway.
func (g *gateway) allow(need access.Role, h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, ok := access.From(r.Context())
		if !ok || !p.Role.Allows(need) {
			return authz.RoleTooSmall(p.Role, need)
		}
		return h(w, r)
	}
}

// anyRole lets a request through whose sender could have a role in some session.
func (g *gateway) anyRole(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := g.authz.AnyRole(r.Context()); err != nil {
			return err
		}
		return h(w, r)
	}
}

// authorize authorizes for the session that the path names, aside, because a stream may follow.
func (g *gateway) authorize(r *http.Request, need access.Role) (admitted *http.Request, err error) {
	aside(func() { admitted, err = g.authz.Authorize(r, r.PathValue("id"), need) })
	return admitted, err
}

// member lets a request through if its sender has the role in the session that the
// path names. If the sender may see no such session, unseen answers; if unseen is nil,
// the status does.
func (g *gateway) member(need access.Role, h, unseen handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		admitted, err := g.authorize(r, need)
		if unseen != nil && errors.Is(err, session.ErrUnknownSession) {
			return unseen(w, r)
		}
		if err != nil {
			return err
		}
		return h(w, admitted)
	}
}

// decider is member for a viewer. A member of a group of approvers may decide on the permission
// requests of a session that they may not see.
func (g *gateway) decider(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		id := r.PathValue("id")
		admitted, err := g.authorize(r, access.Viewer)
		if err == nil {
			return h(w, admitted)
		}
		if decides, refused := g.authz.AuthorizeApprover(r, id, r.PathValue("request")); refused == nil {
			return h(w, decides)
		}
		return err
	}
}

// rfcMember is member for the RFC's route. There a sender whose role is too small learns
// that there is no such session, and a session may keep AI SDK clients out.
func (g *gateway) rfcMember(need access.Role, h, unseen handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		admitted, err := g.authorizeRFC(r, need)
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

// errTooSmall hides a role that is too small: it is session.ErrUnknownSession to the client.
var errTooSmall = fmt.Errorf("%w", session.ErrUnknownSession)

// authorizeRFC authorizes by the rules of the RFC's route.
func (g *gateway) authorizeRFC(r *http.Request, need access.Role) (*http.Request, error) {
	admitted, err := g.authorize(r, need)
	small, is := errors.AsType[*refusal.Error](err)
	switch {
	case is && small.Code == "forbidden" && g.ForeignSession != http.StatusForbidden:
		return r, errTooSmall
	case err == nil && authz.Session(admitted.Context()).NoChat:
		return r, nowhere(r)
	}
	return admitted, err
}

// user lets an admitted request through whose sender may use the session's agent. Every request
// that reaches the agent needs that, and not only a role in the session.
func (g *gateway) user(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := g.authz.MayUse(r.Context(), authz.Session(r.Context()).Agent); err != nil {
			return err
		}
		return h(w, r)
	}
}

// readAuthorizedJSON is readJSON for a change of a session. The sender was admitted before
// the body arrived, which may have taken long, so the sender is checked again.
func (g *gateway) readAuthorizedJSON(w http.ResponseWriter, r *http.Request, v any) error {
	if err := readJSON(w, r, v); err != nil {
		return err
	}
	return g.authz.Recheck(r, r.PathValue("id"))
}

// watched ends the context of a handler that may go on for ever when its sender loses
// access to the session.
func (g *gateway) watched(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, leave := g.authz.Watch(r.Context(), r, r.PathValue("id"))
		defer leave()
		return h(w, r.WithContext(ctx))
	}
}

// limited lets a request through whose sender has not sent too many.
func (g *gateway) limited(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := g.countRequest(r.Context()); err != nil {
			return err
		}
		return h(w, r)
	}
}

// countRequest counts a request of the sender, or returns why it is one too many.
func (g *gateway) countRequest(ctx context.Context) error {
	if p, ok := access.From(ctx); ok {
		return g.limiter.Request(p.ID)
	}
	return nil
}

// streaming lets a request through that gets a stream as its answer, unless its sender has
// too many of them. A prompt without a stream must not be taken.
func (g *gateway) streaming(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		leave, err := g.limiter.Stream(caller(r))
		if err != nil {
			return err
		}
		defer leave()
		r, cancel := expiring(r)
		defer cancel()
		return h(w, r)
	}
}

// expiring ends the context of a request when the request's token expires. Work that
// goes on without the sender, such as their turn, must not depend on it.
func expiring(r *http.Request) (*http.Request, context.CancelFunc) {
	p, _ := access.From(r.Context())
	if p.Expires.IsZero() {
		return r, func() {}
	}
	ctx, cancel := context.WithDeadlineCause(r.Context(), p.Expires, uistream.ErrExpired)
	return r.WithContext(ctx), cancel
}

// sized refuses a chat whose declared length is too large, before any of it is read.
func sized(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := chatbody.CheckLength(r.ContentLength); err != nil {
			return err
		}
		return h(w, r)
	}
}
