package agentops

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/internal/wsconn"
	"github.com/tributary-dev/tributary/session"
)

// Runners admits runners, each of which drives a session from outside.
type Runners interface {
	// Admit checks the token of a session's runner. serve serves the connection of the
	// runner until its end. The error is ErrNoRunner or ErrRunnerToken.
	Admit(ctx context.Context, session, token string) (serve func(context.Context, agentkit.Socket), err error)
}

// Errors for a runner that is not admitted.
var (
	ErrNoRunner    = &refusal.Error{Status: http.StatusServiceUnavailable, Code: "no_runner", Sentence: "this session is not driven by a runner, or is not begun yet: begin it with an agent that is, then try again"}
	ErrRunnerToken = &refusal.Error{Status: http.StatusUnauthorized, Code: "token_wrong", Sentence: "the runner's token is not valid for this session: check it"}
)

// runner lets a runner drive a session. The runner has no token of a person but its own,
// in the URL, so the guard of the gateway lets the request through.
func (s *Server) runner(w http.ResponseWriter, r *http.Request) error {
	if s.Runners == nil {
		return ErrNoRunner
	}
	id := r.PathValue("id")
	serve, err := s.Runners.Admit(r.Context(), id, r.URL.Query().Get("token"))
	if err != nil {
		return err
	}
	hold, leave, err := s.Gateway.AdmitRunner(id)
	if err != nil {
		return err
	}
	defer leave()
	s.Sockets.Begin()
	defer s.Sockets.End()
	conn, err := s.accept(w, r, hold) //nolint:contextcheck // the connection outlives its request
	if err != nil {
		return nil //nolint:nilerr // the response has been written
	}
	defer conn.Cut()
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel()
	watch.Go(func() { s.dismiss(ctx, id, conn) })
	serve(ctx, runnerConn{conn})
	return nil
}

// dismiss ends a runner's connection when the gateway stops, or the session is deleted.
func (s *Server) dismiss(ctx context.Context, id string, conn *wsconn.Conn) {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Hub.Done():
			conn.CloseWith(wsconn.GoingAway, stopping)
			return
		case <-tick.C:
		}
		if _, err := s.Hub.Get(ctx, id); errors.Is(err, session.ErrUnknownSession) {
			conn.CloseWith(wsconn.NormalClosure, "the session is no more")
			return
		}
	}
}

type runnerConn struct{ *wsconn.Conn }

// Close implements agentkit.Socket.
func (c runnerConn) Close(reason string) error {
	c.CloseWith(wsconn.NormalClosure, reason)
	return nil
}
