package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/trace"
)

// Feed describes the stream of a server that tells all of a conversation in one stream, also the
// turns of other clients. The stream outlives the turns. A connection that was lost is made again
// by the next prompt.
type Feed struct {
	// Server is the Transport.
	*Server
	// Path is that of the stream.
	Path string
	// Heartbeat reports whether an event says only that the server lives.
	Heartbeat func(event []byte) bool
	// CheckTime is how long a running turn may be silent before CatchUp; 15 s if zero. A
	// stream without any event for three times as long is opened again.
	CheckTime time.Duration
}

// Follower is the Protocol of a Session with a [Feed]. Run encodes a request that the server
// answers at once, and GoOn is not called. A Follower may also be an agent.Controllable.
type Follower interface {
	Protocol
	// CatchUp decodes what the stream may have missed. It reports whether a turn goes on
	// although the server works on nothing.
	CatchUp(ctx context.Context) (idle bool, err error)
	// Place names the conversation on the server.
	Place() string
}

// connect returns a connection whose stream is read. Spec.Greet makes a new connection ready.
func (s *Session) connect(ctx context.Context) (*connection, error) {
	s.connecting.Lock()
	defer s.connecting.Unlock()
	if c, err := s.spec.Feed.current(); err == nil {
		return c, nil
	}
	s.Restart()
	c, err := s.spec.Feed.connect(ctx)
	if err != nil {
		return nil, err
	}
	if err = s.spec.Greet(ctx, s); err == nil {
		err = s.read(ctx, c)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// death is the end of a turn whose connection is gone.
func (s *Session) death(c *connection) trace.Stop {
	switch {
	case s.Life().Err() != nil:
		return closed()
	case c.proc == nil:
		return lostStop(fmt.Sprintf("The server of %s cannot be reached any more; the session %s may go on there.", s.spec.Name, s.follower.Place()))
	}
	why := "it was ended"
	select {
	case <-c.done:
		why = c.why
	case <-time.After(5 * time.Second): // the connection ended and the process has not
	}
	return trace.Stop{Reason: trace.ReasonDied, Outcome: trace.OutcomeFailed, Error: s.spec.Name + " ended in the middle of the turn: " + why + "."}
}

// delivery brings a prompt to a server with a Feed.
type delivery struct {
	s     *Session
	b     *trace.Builder
	first func(context.Context) (*Call, error)
	conn  *connection
}

var _ agentkit.Link = (*delivery)(nil)

// Connect implements agentkit.Link.
func (l *delivery) Connect(ctx context.Context) (agentkit.Connection, error) {
	c, err := l.s.connect(ctx)
	if err != nil {
		return agentkit.Connection{}, err
	}
	l.conn = c
	return agentkit.Connection{Lost: c.life.Done()}, nil
}

// Send implements agentkit.Link. A prompt whose sending is broken off may run all the same, so
// it is sent and then stopped.
func (l *delivery) Send(ctx context.Context) error {
	c, err := l.first(ctx)
	if err == nil {
		err = l.s.Sent(c.sent()) //nolint:contextcheck // effects end with the session
	}
	if err == nil {
		err = l.s.Tell(context.WithoutCancel(ctx), *c)
	}
	var failed *httpjson.Error
	switch {
	case err == nil:
		err = l.s.Answered(*c, nil) //nolint:contextcheck // as above
	case errors.As(err, &failed) && failed.Status == 0 && l.heard():
		l.conn.lost() // the agent has the prompt, and may have answered on the stream
		err = nil
	}
	return err
}

// exitWait bounds how long a process that has cut a connection is waited for: it may be about to end.
const exitWait = 2 * time.Second

// heard reports whether something of the turn has come on the stream, so that the agent has the prompt. What a
// process sent before it ended is read first.
func (l *delivery) heard() bool {
	if l.conn.proc != nil && !l.s.Heard() {
		select {
		case <-l.conn.done:
			<-l.conn.life.Done() // drain bounds that
		case <-time.After(exitWait):
		}
	}
	return l.s.Heard()
}

// Stop implements agentkit.Link.
func (l *delivery) Stop(ctx context.Context) error {
	c, _ := l.s.protocol.Stop()
	return l.s.Send(ctx, c.JSON())
}

// Cut implements agentkit.Link.
func (l *delivery) Cut() { l.conn.close() }

// Lost implements agentkit.Link.
func (l *delivery) Lost(lost agentkit.Loss) (again bool, end trace.Stop) {
	return l.s.Once(lost, l.b, func() trace.Stop { return l.s.death(l.conn) })
}
