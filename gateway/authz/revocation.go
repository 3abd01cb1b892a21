package authz

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// This file ends streams whose reader has lost access.

// checkInterval is the time between two checks whether a reader may still read.
const checkInterval = 30 * time.Second

// Watch returns a context below ctx, the one of an admitted request. The context ends when
// the sender of the request loses access to the session. Then a member was removed, or the server that judges the token refuses it.
// Where the role in the gateway counts, access never ends this way. The caller calls leave
// at the end of the request.
func (a *Authorizer) Watch(ctx context.Context, r *http.Request, id string) (_ context.Context, leave func()) {
	before, _ := admitted(ctx)
	if _, passThrough := access.PassThroughOf(ctx); !a.Private && !passThrough && !before.info.Hosted {
		return ctx, func() {}
	}
	return access.Watch(ctx, checkInterval, func(ctx context.Context) error {
		if _, err := a.Check(r.WithContext(ctx), id, access.Viewer); lost(err) {
			return uistream.ErrAccessRevoked
		}
		return nil
	})
}

// lost reports whether an error says that the sender has no access any more.
func lost(err error) bool {
	if errors.Is(err, session.ErrUnknownSession) {
		return true
	}
	e, is := errors.AsType[*refusal.Error](err)
	return is && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden || e.Status == http.StatusNotFound)
}
