package agentops

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	frames "github.com/tributary-dev/tributary/export/agentops"
	"github.com/tributary-dev/tributary/internal/wsconn"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// client is a browser that looks at a session. The client reads from the log, as all
// subscribers do, and holds no other reader up.
type client struct {
	Admission
	s       *Server
	id      string // the session
	conn    *wsconn.Conn
	queue   *wsconn.Queue
	options frames.Options
	follows map[string]func(cut bool) // by turn: the end of the subscription to it
	watches chan struct{}             // closed when the browser watches the session
	present bool                      // announced to the others; guarded by Server.mu
}

// client lets a browser look at a session and take part in it.
func (s *Server) client(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	a, err := s.Gateway.Admit(r, id)
	if err != nil {
		return err
	}
	defer a.Leave()
	s.Sockets.Begin()
	defer s.Sockets.End()
	conn, err := s.accept(w, r, a.Upload)
	if err != nil {
		return nil //nolint:nilerr // the response has been written
	}
	c := &client{
		Admission: a, s: s, id: id, conn: conn, queue: wsconn.NewQueue(conn), follows: map[string]func(bool){}, watches: make(chan struct{}),
		options: frames.Options{Session: id, Workspace: a.Agent, AnswerLimit: s.Hub.AnswerLimit},
	}
	c.run() //nolint:contextcheck // the connection outlives the request's own context
	return nil
}

// farewell is a close frame.
type farewell struct {
	code   wsconn.Code
	reason string
}

func (f farewell) Error() string { return f.reason }

var errStopping = farewell{wsconn.GoingAway, stopping}

// run serves the browser until either side leaves.
func (c *client) run() {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(c.Context()))
	var tasks sync.WaitGroup
	ended := make(chan error, 1)
	for _, task := range []func(context.Context) error{c.queue.Run, c.show, c.listen} {
		tasks.Go(func() {
			err := task(ctx)
			select {
			case ended <- err:
			default: // another task was first
			}
		})
	}
	var why error
	select {
	case why = <-ended:
	case <-c.s.Hub.Done():
		why = errStopping
	case <-c.Context().Done():
		cause := context.Cause(c.Context())
		_ = c.complain(ctx, cause)
		why = farewell{wsconn.PolicyViolation, cause.Error()}
	}
	if bye, is := errors.AsType[farewell](why); is {
		c.queue.Flush(ctx)
		c.conn.CloseWith(bye.code, bye.reason)
	}
	if errors.Is(why, wsconn.ErrUnread) {
		c.s.Logger.Warn("socket was cut", "session", c.id, "agent", c.Agent, "follower", c.User.ID, "error", why)
	}
	cancel(why)
	c.conn.Cut()
	tasks.Wait()
	c.unfollow()
	c.s.leave(c)
}

// unfollow ends the subscriptions to turns. A user whose access has ended has not left by
// their own will, so this stops no turn. A user whose token has expired may come back.
func (c *client) unfollow() {
	dismissed := c.Context().Err() != nil
	expired := !c.User.Expires.IsZero() && !time.Now().Before(c.User.Expires)
	for turn, leave := range c.follows {
		if expired {
			c.s.Hub.MarkUndelivered(c.id, turn)
		}
		leave(!dismissed)
	}
}

// show sends the state of the session, and then all that happens.
func (c *client) show(ctx context.Context) error {
	ctx, done := c.Reading(ctx)
	defer done()
	info, after, err := c.s.Hub.OpenFrom(ctx, c.id)
	if err != nil {
		return c.gone(ctx, err)
	}
	past, err := c.s.Hub.Records(ctx, c.id, session.Filter{After: after, Deltas: true})
	if err != nil {
		return c.gone(ctx, err)
	}
	close(c.watches)
	c.options.Title = info.Title
	view := frames.New(c.options)
	for r, err := range past {
		if err != nil {
			return c.gone(ctx, err)
		}
		view.Observe(r)
		c.follow(r)
		after = r.Seq
	}
	if err := c.send(ctx, view.Join(c.s.enter(c))...); err != nil {
		return err
	}
	c.s.announce(c)
	next, err := c.s.Hub.Records(ctx, c.id, session.Filter{After: after, Deltas: true, Live: true})
	if err != nil {
		return c.gone(ctx, err)
	}
	for r, err := range next {
		if err != nil {
			return c.gone(ctx, err)
		}
		c.follow(r)
		if err := c.send(ctx, view.Next(r)...); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return c.gone(ctx, session.ErrUnknownSession)
}

// gone tells the browser why it sees nothing more.
func (c *client) gone(ctx context.Context, err error) error {
	select {
	case <-c.s.Hub.Done():
		return errStopping
	default:
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, session.ErrUnknownSession) { // it was deleted
		_ = c.send(ctx, wire.Status{Data: wire.StatusData{Status: wire.SessionTerminated}})
		return farewell{wsconn.NormalClosure, "the session is no more"}
	}
	_ = c.complain(ctx, err)
	return farewell{wsconn.InternalError, "the session cannot be read"}
}

// follow subscribes to a turn as long as the turn runs. The turn of the user's own prompt
// is followed as soon as the prompt waits.
func (c *client) follow(r trace.Record) {
	prompt, isPrompt := r.Payload.(trace.Prompt)
	_, isReply := r.Payload.(trace.Reply)
	_, isStop := r.Payload.(trace.Stop)
	leave, follows := c.follows[r.Turn]
	switch {
	case isStop && follows:
		leave(false)
		delete(c.follows, r.Turn)
	case follows || r.Turn == "":
	case isReply, isPrompt && prompt.By == c.User.ID:
		c.follows[r.Turn] = c.s.Hub.Attach(c.id, r.Turn, nil)
	}
}

// send queues frames, in order. A client that sends a prompt by HTTP reads none.
func (c *client) send(ctx context.Context, frames ...wire.Frame) error {
	if c.queue == nil {
		return nil
	}
	for _, f := range frames {
		data, err := wire.Encode(f)
		if err != nil {
			return err
		}
		if err := c.queue.Put(ctx, data); err != nil {
			return err
		}
	}
	return nil
}

// complain tells this browser, and no other, what went wrong.
func (c *client) complain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return c.send(ctx, wire.Error{Message: c.Explain(err)})
}
