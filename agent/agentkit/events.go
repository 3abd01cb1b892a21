package agentkit

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/sse"
	"github.com/tributary-dev/tributary/trace"
)

// patience is how many times in a row the stream may fail to open, and how often in a row a
// server may work on nothing while a turn runs.
const (
	patience = 6
	idleness = 3
)

// follow opens the event stream and reads it until the connection ends.
func (r *Remote) follow(ctx context.Context, srv *Server) error {
	stop := context.AfterFunc(ctx, srv.end)
	body, err := srv.stream(r.spec.Stream)
	if !stop() && err == nil {
		err = errors.Join(context.Cause(ctx), body.Close())
	}
	if err != nil {
		return err
	}
	r.Go(func(life context.Context) {
		defer context.AfterFunc(life, srv.end)()
		for body != nil {
			r.hear(srv, body) //nolint:contextcheck // the connection has a context of its own
			if body = r.reopen(srv); body != nil {
				r.catchUp(srv)
			}
		}
		r.Lost(r.death(srv))
		srv.end()
	})
	return nil
}

// reopen opens the stream again. It returns nil when the connection or the process has ended, or
// the server cannot be reached.
func (r *Remote) reopen(srv *Server) io.ReadCloser {
	for failures := range patience {
		select {
		case <-time.After(min(100*time.Millisecond<<failures, 2*time.Second)):
		case <-srv.done:
			return nil
		case <-srv.life.Done():
			return nil
		}
		body, err := srv.stream(r.spec.Stream)
		if err == nil {
			return body
		}
		r.cfg.Logger.Debug("the event stream does not open", "error", err)
	}
	return nil
}

// hear hands the events of one stream to the Decoder.
func (r *Remote) hear(srv *Server, body io.ReadCloser) {
	news, watched := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(watched)
		r.watch(srv, news)
	}()
	silence := time.AfterFunc(3*r.spec.CheckTime, func() { _ = body.Close() })
	for e, err := range sse.NewReader(body, 0).All() {
		silence.Stop() // a server is not silent while its event is decoded
		r.event(e, err, news)
		silence.Reset(3 * r.spec.CheckTime)
	}
	silence.Stop()
	close(news)
	_ = body.Close()
	<-watched
}

// event hands an event to the Decoder.
func (r *Remote) event(e sse.Event, err error, news chan<- struct{}) {
	if err != nil {
		r.cfg.Logger.Debug("an event was skipped", "error", err)
		return
	}
	if r.spec.Heartbeat == nil || !r.spec.Heartbeat(e.Data) {
		select {
		case news <- struct{}{}:
		default:
		}
	}
	if err := r.Received(agent.Message{Dir: agent.Out, Channel: Events, Data: e.Data}); err != nil {
		r.cfg.Logger.Warn(err.Error())
	}
}

// watch catches up while a turn is silent, and ends a turn that the server has forgotten.
func (r *Remote) watch(srv *Server, news <-chan struct{}) {
	idle := 0
	for {
		select {
		case _, open := <-news:
			if !open {
				return
			}
			idle = 0
			continue
		case <-time.After(r.spec.CheckTime):
		}
		if !r.busy() || !r.catchUp(srv) {
			idle = 0
			continue
		}
		if idle++; idle == idleness {
			r.Lost(trace.Stop{
				Reason: trace.ReasonLost, Outcome: trace.OutcomeFailed,
				Error: r.spec.Name + " does not work on the prompt any more and has told no end: send the prompt again.",
			})
		}
	}
}

// catchUp reads what the stream may have missed, and reports whether a turn goes on although
// the server works on nothing.
func (r *Remote) catchUp(srv *Server) bool {
	idle, err := r.protocol.CatchUp(srv.life)
	if err != nil {
		r.cfg.Logger.Debug("what was missed cannot be read", "error", err)
	}
	return idle
}
