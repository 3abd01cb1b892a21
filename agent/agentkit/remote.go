package agentkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/trace"
)

// RemoteSpec describes an agent that is a server: the adapter sends requests by HTTP, and
// reads a stream of server-sent events.
type RemoteSpec struct {
	// Name begins sentences for users, such as "OpenCode".
	Name   string
	Server ServerSpec
	// Stream is the path of the event stream.
	Stream string
	// Heartbeat reports whether an event says only that the server lives.
	Heartbeat func(event []byte) bool
	// StopTime bounds a stop; 5 s if zero.
	StopTime time.Duration
	// CheckTime is how long a running turn may be silent before CatchUp; 15 s if zero. A
	// stream without any event for three times as long is opened again.
	CheckTime time.Duration
	// New returns the session's protocol.
	New func(r *Remote) RemoteProtocol
}

// RemoteProtocol is what an adapter knows of its server's protocol. There is one for each
// session. Decode is called with the session locked; the other methods are not, and may use
// the Remote. A RemoteProtocol may also be an agent.Controllable.
type RemoteProtocol interface {
	agent.Decoder
	// Greet makes a new connection ready, and finds or begins the conversation.
	Greet(ctx context.Context) error
	// Prompt encodes a prompt. The server answers at once. A *PromptError says that the
	// agent cannot take the prompt.
	Prompt(p agent.Prompt) (Call, error)
	// Stop encodes the request to end the turn.
	Stop() Call
	// CatchUp decodes what the stream may have missed. It reports whether a turn goes on
	// although the server works on nothing.
	CatchUp(ctx context.Context) (idle bool, err error)
	// Place names the conversation on the server.
	Place() string
}

// Remote is a conversation with an agent that is a server. A connection that was lost is
// made again by the next prompt.
type Remote struct {
	*Session
	spec     RemoteSpec
	protocol RemoteProtocol

	connecting sync.Mutex // taken before state
	state      sync.Mutex // guards what follows
	server     *Server
	shut       bool
}

var (
	_ agent.Session      = (*Remote)(nil)
	_ agent.Controllable = (*Remote)(nil)
)

// OpenRemote reaches the agent and returns when it is ready.
func OpenRemote(ctx context.Context, host agent.Host, cfg agent.Config, spec RemoteSpec) (agent.Session, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if spec.CheckTime <= 0 {
		spec.CheckTime = 15 * time.Second
	}
	r := &Remote{spec: spec}
	r.Session = New(host, cfg, Options{Name: spec.Name, StopTime: spec.StopTime, Send: r.post})
	r.protocol = spec.New(r)
	r.decoder = r.protocol
	if _, err := r.connect(ctx); err != nil {
		cfg.Meter.Count(agent.OpenFailure)
		return nil, errors.Join(err, r.Close()) //nolint:contextcheck // closing has a bound of its own
	}
	return r, nil
}

// connect returns a connection that is ready.
func (r *Remote) connect(ctx context.Context) (*Server, error) {
	r.connecting.Lock()
	defer r.connecting.Unlock()
	if srv, err := r.current(); err == nil {
		return srv, nil
	}
	r.restart()
	srv, err := r.spec.Server.Reach(ctx)
	if err != nil {
		return nil, err
	}
	r.state.Lock()
	shut := r.shut
	r.server = srv
	r.state.Unlock()
	if shut {
		err = ErrClosed
	} else if err = r.protocol.Greet(ctx); err == nil {
		err = r.follow(ctx, srv)
	}
	if err != nil {
		srv.Close()
		return nil, err
	}
	return srv, nil
}

// current returns the connection.
func (r *Remote) current() (*Server, error) {
	r.state.Lock()
	defer r.state.Unlock()
	if r.server == nil || r.server.gone() {
		return nil, ErrClosed
	}
	return r.server, nil
}

// Host is the session's host.
func (r *Remote) Host() agent.Host { return r.host }

// Logger names the session and the agent in each line.
func (r *Remote) Logger() *slog.Logger { return r.cfg.Logger }

// Fetch calls the server. The Decoder does not learn of the call.
func (r *Remote) Fetch(ctx context.Context, method, path string, in, out any) error {
	srv, err := r.current()
	if err != nil {
		return err
	}
	return srv.Fetch(ctx, method, path, in, out)
}

// Exchange calls the server. The Decoder gets the request, if it has a body, and the answer.
func (r *Remote) Exchange(ctx context.Context, method, path string, in, out any) error {
	if in != nil {
		if err := r.Sent(Call{Method: method, Path: path, Body: Encode(in)}.sent()); err != nil { //nolint:contextcheck // effects end with the session
			return err
		}
	}
	var body json.RawMessage
	if err := r.Fetch(ctx, method, path, in, &body); err != nil {
		return err
	}
	if out != nil {
		if err := json.Unmarshal(body, out); err != nil {
			return fmt.Errorf("%s: the server's answer to %s %s has another form than expected: %w", r.spec.Server.Adapter, method, path, err)
		}
	}
	return r.Answered(path, body) //nolint:contextcheck // as above
}

// Answered gives the Decoder an answer.
func (r *Remote) Answered(path string, body json.RawMessage) error {
	return r.Received(answer(path, body))
}

// Tell sends a prompt. The refusal of a server is a *PromptError.
func (r *Remote) Tell(ctx context.Context, c Call) error {
	srv, err := r.current()
	if err != nil {
		return err
	}
	err = srv.send(ctx, c)
	if refused, ok := errors.AsType[*httpjson.Error](err); ok && refused.Status >= 400 {
		return &PromptError{Reason: "refused", Sentence: r.spec.Name + " did not take the prompt: " + refused.Message, Class: trace.ClassOfStatus(refused.Status)}
	}
	return err
}

// post sends a call that the Decoder knows.
func (r *Remote) post(ctx context.Context, data []byte) error {
	var c Call
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("%s: a request was lost: %w", r.spec.Server.Adapter, err)
	}
	srv, err := r.current()
	if err != nil {
		return err
	}
	return srv.send(ctx, c)
}

// Prompt implements agent.Session.
func (r *Remote) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	r.state.Lock()
	shut := r.shut
	r.state.Unlock()
	if shut {
		return ErrClosed
	}
	return r.Run(ctx, b, &remoteLink{r: r, b: b, prompt: p})
}

// Controls implements agent.Controllable.
func (r *Remote) Controls() agent.Controls {
	if c, ok := r.protocol.(agent.Controllable); ok {
		return c.Controls()
	}
	return agent.Controls{}
}

// Close implements agent.Session. A turn on a server that runs without us is stopped.
func (r *Remote) Close() error {
	r.state.Lock()
	r.shut = true
	srv := r.server
	r.state.Unlock()
	if srv != nil {
		if srv.proc == nil && !srv.gone() && r.busy() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			_ = srv.send(ctx, r.protocol.Stop()) // the session ends in any case
			cancel()
		}
		r.end()
		srv.Close()
		r.Lost(r.death(srv))
	}
	r.Session.Close()
	return nil
}

// death is the end of a turn whose connection is gone.
func (r *Remote) death(srv *Server) trace.Stop {
	switch {
	case r.life.Err() != nil:
		return closed()
	case srv.proc == nil:
		return trace.Stop{
			Reason: trace.ReasonLost, Outcome: trace.OutcomeFailed,
			Error: fmt.Sprintf("The server of %s cannot be reached any more; the session %s may go on there.", r.spec.Name, r.protocol.Place()),
		}
	}
	why := "it was ended"
	select {
	case <-srv.done:
		why = srv.why
	case <-time.After(5 * time.Second): // the connection ended and the process has not
	}
	return trace.Stop{Reason: trace.ReasonDied, Outcome: trace.OutcomeFailed, Error: r.spec.Name + " ended in the middle of the turn: " + why + "."}
}

// remoteLink brings a prompt to a server.
type remoteLink struct {
	r      *Remote
	b      *trace.Builder
	prompt agent.Prompt
	srv    *Server
}

// Connect implements Link.
func (l *remoteLink) Connect(ctx context.Context) (Connection, error) {
	srv, err := l.r.connect(ctx)
	if err != nil {
		return Connection{}, err
	}
	l.srv = srv
	return Connection{Lost: srv.life.Done()}, nil
}

// Send implements Link. A prompt whose sending is broken off may run all the same, so it is
// sent and then stopped.
func (l *remoteLink) Send(ctx context.Context) error {
	c, err := l.r.protocol.Prompt(l.prompt)
	if err == nil {
		err = l.r.Sent(c.sent()) //nolint:contextcheck // effects end with the session
	}
	if err == nil {
		err = l.r.Tell(context.WithoutCancel(ctx), c)
	}
	var failed *httpjson.Error
	switch {
	case err == nil:
		err = l.r.Answered(c.Path, nil) //nolint:contextcheck // as above
	case errors.As(err, &failed) && failed.Status == 0 && l.r.hasHeard():
		l.srv.lost() // the agent has the prompt, and may have answered on the stream
		err = nil
	}
	return err
}

// Stop implements Link.
func (l *remoteLink) Stop(ctx context.Context) error {
	return l.r.Send(ctx, l.r.protocol.Stop().JSON())
}

// Cut implements Link.
func (l *remoteLink) Cut() { l.srv.Close() }

// Lost implements Link.
func (l *remoteLink) Lost(lost Loss) (again bool, end trace.Stop) {
	return l.r.once(lost, l.b, func() trace.Stop { return l.r.death(l.srv) })
}
