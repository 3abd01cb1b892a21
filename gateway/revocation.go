package gateway

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/uistream"
)

// This file ends streams whose reader has lost access.

// admission is how the sender of a request was admitted to a session: the principal
// before that, and the role that the request needs. A context keeps it under an
// admissionKey.
type admission struct {
	sender access.Principal
	need   access.Role
	hosted bool // the server of the session's agent said so
}

type admissionKey struct{}

// asReceived is an admitted request as it was before: its sender may have another role in
// the session by now, or none.
func asReceived(r *http.Request) *http.Request {
	a, ok := r.Context().Value(admissionKey{}).(admission)
	if !ok {
		return r
	}
	return r.WithContext(access.With(r.Context(), a.sender))
}

// readAuthorizedJSON is readJSON for what is to be done in a session. The sender was admitted before
// the body arrived, which may have taken long, so take checks the sender again.
func (g *gateway) readAuthorizedJSON(w http.ResponseWriter, r *http.Request, v any) error {
	if err := readJSON(w, r, v); err != nil {
		return err
	}
	a, ok := r.Context().Value(admissionKey{}).(admission)
	if !ok {
		return nil
	}
	_, _, err := g.checkAccess(asReceived(r), r.PathValue("id"), a.need)
	return err
}

// watchAccess is the context of an admitted request. The context ends when the sender may
// no longer read the session: the sender is no member any more, or the server that
// judges the token says so. Where the role in the gateway counts, access never ends
// this way. The returned function ends the checks.
func (g *gateway) watchAccess(ctx context.Context, r *http.Request, id string) (_ context.Context, leave func()) {
	a, _ := r.Context().Value(admissionKey{}).(admission)
	if _, guest := access.GuestOf(ctx); !g.Private && !guest && !a.hosted {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	s := &accessWatch{ask: func() error {
		_, _, err := g.checkAccess(asReceived(r.WithContext(ctx)), id, access.Viewer)
		return err
	}, end: cancel}
	s.mu.Lock()
	s.timer = time.AfterFunc(accessCheckInterval, s.check)
	s.mu.Unlock()
	return ctx, func() {
		s.mu.Lock()
		s.over = true
		s.timer.Stop()
		s.mu.Unlock()
		cancel(nil)
		s.asking.Wait()
	}
}

// withAccessWatch is for handlers that may go on for ever.
func (g *gateway) withAccessWatch(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, leave := g.watchAccess(r.Context(), r, r.PathValue("id"))
		defer leave()
		return h(w, r.WithContext(ctx))
	}
}

// accessCheckInterval is the time between two checks whether a reader may still read.
const accessCheckInterval = 30 * time.Second

// accessLost reports whether an error says that somebody has lost access.
func accessLost(err error) bool {
	status, _ := statusOf(err)
	return err != nil && (status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusNotFound)
}

// accessWatch asks now and then whether somebody may stay. A stay has a goroutine only while it
// asks.
type accessWatch struct {
	ask    func() error
	end    context.CancelCauseFunc
	asking sync.WaitGroup

	mu    sync.Mutex
	timer *time.Timer
	over  bool
}

// begin reports whether there is still somebody to ask for.
func (s *accessWatch) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.asking.Add(1)
	}
	return !s.over
}

func (s *accessWatch) check() {
	if !s.begin() {
		return
	}
	defer s.asking.Done()
	if accessLost(s.ask()) {
		s.end(uistream.ErrAccessRevoked)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.timer.Reset(accessCheckInterval)
	}
}
