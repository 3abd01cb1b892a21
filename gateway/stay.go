package gateway

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/uistream"
)

// admission is how the sender of a request was admitted to a session: the principal
// before that, and the role that the request needs. A context keeps it under an
// admissionKey.
type admission struct {
	sender access.Principal
	need   access.Role
	hosted bool // the server of the session's agent said so
}

type admissionKey struct{}

// asItCame is an admitted request as it was before: its sender may have another role in
// the session by now, or none.
func asItCame(r *http.Request) *http.Request {
	a, ok := r.Context().Value(admissionKey{}).(admission)
	if !ok {
		return r
	}
	return r.WithContext(access.With(r.Context(), a.sender))
}

// take is readJSON for what is to be done in a session. The sender was admitted before
// the body arrived, which may have taken long, so take checks the sender again.
func (g *gateway) take(w http.ResponseWriter, r *http.Request, v any) error {
	if err := readJSON(w, r, v); err != nil {
		return err
	}
	a, ok := r.Context().Value(admissionKey{}).(admission)
	if !ok {
		return nil
	}
	_, _, err := g.judge(asItCame(r), r.PathValue("id"), a.need)
	return err
}

// staying is the context of an admitted request. The context ends when the sender may
// no longer read the session: the sender is no member any more, or the server that
// judges the token says so. Where the role in the gateway counts, access never ends
// this way. The returned function ends the checks.
func (g *gateway) staying(ctx context.Context, r *http.Request, id string) (_ context.Context, leave func()) {
	a, _ := r.Context().Value(admissionKey{}).(admission)
	if _, guest := access.GuestOf(ctx); !g.Private && !guest && !a.hosted {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	s := &stay{ask: func() error {
		_, _, err := g.judge(asItCame(r.WithContext(ctx)), id, access.Viewer)
		return err
	}, end: cancel}
	s.mu.Lock()
	s.timer = time.AfterFunc(checkEvery, s.check)
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

// attended is for handlers that may go on for ever.
func (g *gateway) attended(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, leave := g.staying(r.Context(), r, r.PathValue("id"))
		defer leave()
		return h(w, r.WithContext(ctx))
	}
}

// checkEvery is the time between two checks whether a reader may still read.
const checkEvery = 30 * time.Second

// sentAway reports whether an error says that somebody has lost access.
func sentAway(err error) bool {
	status, _ := statusOf(err)
	return err != nil && (status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusNotFound)
}

// stay asks now and then whether somebody may stay. A stay has a goroutine only while it
// asks.
type stay struct {
	ask    func() error
	end    context.CancelCauseFunc
	asking sync.WaitGroup

	mu    sync.Mutex
	timer *time.Timer
	over  bool
}

// begin reports whether there is still somebody to ask for.
func (s *stay) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.asking.Add(1)
	}
	return !s.over
}

func (s *stay) check() {
	if !s.begin() {
		return
	}
	defer s.asking.Done()
	if sentAway(s.ask()) {
		s.end(uistream.ErrAccessRevoked)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.timer.Reset(checkEvery)
	}
}
