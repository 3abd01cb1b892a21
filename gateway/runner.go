package gateway

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/session"
)

// Runners takes the connections of runners, each of which drives a session from
// outside.
type Runners interface {
	// Admit returns what serves a runner of a session that has shown this token: it
	// returns when the connection is over. The error is ErrNoRunner or ErrRunnerToken.
	Admit(ctx context.Context, session, token string) (serve func(context.Context, RunnerConn), err error)
}

// RunnerConn is a runner's connection, and bounded as every other: in the size of a
// frame, and in the time for its pieces. Write and Close may be called from any
// goroutine; Close ends Read.
type RunnerConn interface {
	Read(ctx context.Context) ([]byte, error)
	Write(ctx context.Context, frame []byte) error
	Close(reason string) error
}

// Errors for a runner that is not admitted.
var (
	ErrNoRunner    = errors.New("this session is not driven by a runner, or is not begun yet: begin it with an agent that is, then try again")
	ErrRunnerToken = errors.New("the runner's token is not valid for this session: check it")
)

// runner lets a runner drive a session. It shows a token of its own in the URL, and
// not the token of a person: the guard lets it through to here.
func (g *gateway) runner(w http.ResponseWriter, r *http.Request) error {
	if g.Runners == nil {
		return ErrNoRunner
	}
	id := r.PathValue("id")
	serve, err := g.Runners.Admit(r.Context(), id, r.URL.Query().Get("token"))
	if err != nil {
		return err
	}
	leave, err := g.limiter.stream(runnerName(id))
	if err != nil {
		return err
	}
	defer leave()
	defer g.Sockets.enter()()
	conn, err := accept(w, r)
	if err != nil {
		return nil //nolint:nilerr // it has its answer
	}
	defer conn.CloseNow() //nolint:errcheck // it is closed by then, or was of no use
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	link := runnerConn{g.newSocket(conn, &bulk{limiter: g.limiter, principal: runnerName(id), cargo: upload, within: g.Read})}
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer cancel()
	tasks.Go(func() {
		_ = link.ping(ctx) // its error ends the connection
		cancel()
	})
	tasks.Go(func() { g.dismiss(ctx, id, conn, cancel) })
	serve(ctx, link)
	return nil
}

// dismiss ends a runner's connection when the gateway stops, or the session is no more.
func (g *gateway) dismiss(ctx context.Context, id string, conn *websocket.Conn, cancel context.CancelFunc) {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.Hub.Done():
			_ = conn.Close(websocket.StatusGoingAway, stoppingText)
			cancel()
			return
		case <-tick.C:
		}
		if _, _, _, err := g.Hub.Get(ctx, id); errors.Is(err, session.ErrUnknownSession) {
			_ = conn.Close(websocket.StatusNormalClosure, "the session is no more")
			cancel()
			return
		}
	}
}

// runnerName is whose share of the gateway a runner has. It is no name that a person can
// have.
func runnerName(session string) string { return "\x00runner of " + session }

type runnerConn struct{ *socket }

// Read implements RunnerConn.
func (c runnerConn) Read(ctx context.Context) ([]byte, error) {
	frame, release, err := c.read(ctx)
	if err == nil {
		release()
	}
	return frame, err
}

// Write implements RunnerConn.
func (c runnerConn) Write(ctx context.Context, frame []byte) error { return c.writeOne(ctx, frame) }

// Close implements RunnerConn.
func (c runnerConn) Close(reason string) error {
	return c.conn.Close(websocket.StatusNormalClosure, reason)
}
