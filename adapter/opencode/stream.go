package opencode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/internal/sse"
	"github.com/tributary-dev/tributary/trace"
)

// patience is how many times in a row the stream may fail to open.
const patience = 6

// follow opens the event stream and reads it until the server is gone.
func (s *session) follow(ctx context.Context, srv *server) error {
	stop := context.AfterFunc(ctx, srv.end)
	body, err := s.stream(srv)
	if !stop() && err == nil {
		err = errors.Join(context.Cause(ctx), body.Close())
	}
	if err != nil {
		return err
	}
	s.Go(func(life context.Context) {
		defer context.AfterFunc(life, srv.end)()
		s.listen(srv, body) //nolint:contextcheck // the connection has a context of its own
	})
	return nil
}

func (s *session) stream(srv *server) (io.ReadCloser, error) {
	body, err := srv.client.Stream(srv.life, httpjson.Call{Method: http.MethodGet, Path: "/event", Query: srv.query})
	if err != nil {
		return nil, fmt.Errorf("opencode: %w", err)
	}
	return body, nil
}

// listen reads the stream, opens it again when it breaks, and reads back what was missed.
func (s *session) listen(srv *server, body io.ReadCloser) {
	failures := 0
	for {
		if body != nil {
			s.hear(srv, body)
		}
		if srv.gone() {
			break
		}
		var err error
		if body, err = s.stream(srv); err == nil {
			failures = 0
			s.readBack(srv)
			continue
		}
		s.cfg.Logger.Debug("opencode: the event stream does not open", "error", err)
		if failures++; failures == patience {
			break
		}
		select {
		case <-time.After(min(100*time.Millisecond<<failures, 2*time.Second)):
		case <-srv.life.Done():
		}
	}
	s.Lost(s.death(srv))
	srv.end()
}

// hear hands the events of one stream to the Decoder. It ends a stream that is silent
// although the server sends a heartbeat each ten seconds, and checks the messages when a
// turn is silent.
func (s *session) hear(srv *server, body io.ReadCloser) {
	check := cmp.Or(s.rt.CheckTime, 15*time.Second)
	var alive, news atomic.Bool
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(check)
		defer tick.Stop()
		silent, idle := 0, 0
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if silent++; alive.Swap(false) {
				silent = 0
			}
			if silent == 3 {
				_ = body.Close()
				return
			}
			if news.Swap(false) {
				idle = 0
			} else if s.unfinished(srv) {
				if idle++; idle == 3 {
					s.Lost(trace.Stop{Reason: trace.ReasonLost, Outcome: trace.OutcomeFailed, Error: s.rt.name() + " does not work on the prompt any more and has told no end: send the prompt again."})
				}
			}
		}
	}()
	for e, err := range sse.NewReader(body, 0).All() {
		alive.Store(true)
		if err != nil {
			s.cfg.Logger.Debug("opencode: " + err.Error())
			continue
		}
		var head event
		if decode(e.Data, &head) && head.Type != "server.heartbeat" {
			news.Store(true)
		}
		if err := s.Received(agent.Message{Dir: agent.Out, Channel: "sse", Data: e.Data}); err != nil {
			s.cfg.Logger.Warn(err.Error())
		}
	}
	close(done)
	_ = body.Close()
	<-watched
}

// unfinished reads back a turn that runs, and reports whether it goes on although the
// server is idle.
func (s *session) unfinished(srv *server) bool {
	running, idle := false, false
	look := func() {
		if running = s.dec.Running(); running {
			idle = s.dec.turn.idle
		}
	}
	if s.Do(look); running {
		s.readBack(srv)
		s.Do(look)
	}
	return running && idle
}

// readBack reads what the stream may have missed. The state is asked for before the
// messages and decoded after them, so that a turn does not end without its last words.
func (s *session) readBack(srv *server) {
	_, id := s.current()
	var states raw
	err := srv.do(srv.life, http.MethodGet, "/session/status", nil, &states)
	for _, path := range []string{"/session/" + id + "/message", "/permission", "/question"} {
		if err == nil {
			err = s.call(srv.life, srv, http.MethodGet, path, nil)
		}
	}
	if err == nil {
		err = s.Received(agent.Message{Dir: agent.Out, Channel: "http-res", Data: encode(call{Path: "/session/status", Status: http.StatusOK, Body: states})})
	}
	if err != nil {
		s.cfg.Logger.Debug("opencode: what was missed cannot be read", "error", err)
	}
}

// death is the end of a turn whose server is gone.
func (s *session) death(srv *server) trace.Stop {
	switch _, id := s.current(); {
	case s.Life().Err() != nil:
		return trace.Stop{Reason: "closed", Outcome: trace.OutcomeCanceled}
	case srv.proc != nil:
		why := "it was ended"
		select {
		case <-srv.done:
			why = srv.why
		case <-time.After(5 * time.Second): // the connection ended and the process has not
		}
		return trace.Stop{Reason: trace.ReasonDied, Outcome: trace.OutcomeFailed, Error: s.rt.name() + " ended in the middle of the turn: " + why + "."}
	default:
		return trace.Stop{
			Reason: trace.ReasonLost, Outcome: trace.OutcomeFailed,
			Error: fmt.Sprintf("The server of %s cannot be reached any more; the session %s may go on there.", s.rt.name(), id),
		}
	}
}
