package gateway

import (
	"errors"
	"net/http"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/gateway/chatrun"
	"github.com/tributary-dev/tributary/gateway/cluster"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// This file writes the stream of a turn.

// stream is a part of a turn that a client gets, in the form of the options. A chat request
// is measured from when it began; began is zero for a resume, which shows a turn once more
// and is none.
type stream struct {
	turn    session.Turn
	span    uistream.Span
	options uistream.Options
	began   time.Time
	rest    bool // the rest of a message

	// elsewhere has another gateway answer, if it is set. It calls sent when that one has the chat.
	elsewhere func(w http.ResponseWriter, r *http.Request, sent func()) error
	sent      func()

	// Of a run, which a client may read in several pieces:
	subscription *uistream.Subscription
	had          []byte // chunks that were written before, and that the client may lack
}

// served serves the stream that a handler finds, if it finds one.
func (g *gateway) served(find func(http.ResponseWriter, *http.Request) (*stream, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) (err error) {
		var s *stream
		aside(func() { s, err = g.find(w, r, find) })
		switch {
		case err != nil || s == nil:
			return err
		case s.elsewhere != nil:
			return s.elsewhere(w, r, s.sent)
		}
		g.serve(w, r, s)
		return nil
	}
}

// keeps calls done, or has the stream call it that needs what was read of the chat for longer.
func (s *stream) keeps(done func()) {
	if s == nil || s.elsewhere == nil {
		done()
	} else {
		s.sent = done
	}
}

// find finds the stream of a request. For a GET, the reads count among those of its
// principal.
func (g *gateway) find(w http.ResponseWriter, r *http.Request, find func(http.ResponseWriter, *http.Request) (*stream, error)) (*stream, error) {
	if r.Method == http.MethodPost {
		return find(w, r)
	}
	ctx, rd := g.reading(r.Context(), r)
	defer rd.Waits()
	return find(w, r.WithContext(ctx))
}

// serve streams to one client. The client counts as a subscriber of the turn until it
// leaves; whether it had the end by then decides what its leaving means.
func (g *gateway) serve(w http.ResponseWriter, r *http.Request, s *stream) {
	defer g.Meter.Follow()()
	writer := uistream.NewWriter(w, g.Streams.Framing().For(s.options), g.Timing)
	defer writer.Close()
	if r.Method == http.MethodHead { // a client that only asks whether there is a stream
		if writer.Begin() == nil {
			_ = writer.Done()
		}
		return
	}
	if r.Method == http.MethodGet { // a prompt that was taken has its stream
		goodbye, err := g.limiter.Client(s.turn.Session)
		if err != nil {
			g.fail(w, r, err)
			return
		}
		defer goodbye()
	}
	pointToTools(w, s.turn.Session)
	lost := g.Cluster.PasserEnded(r)
	leave, back := g.Hub.Attach(s.turn.Session, s.turn.ID, lost), g.Hub.FollowQueued(s.turn.Session, caller(r), lost)
	cut := true // by a panic, for example
	defer func() {
		leave(cut)
		back(cut)
	}()
	reader := g.Hub.Read(s.turn)
	defer reader.Close()
	source := turnSource{reader, g, r}
	ctx, gone := g.authz.Watch(r.Context(), r, s.turn.Session)
	defer gone()
	if s.subscription == nil {
		s.subscription = uistream.NewSubscription(s.turn.ID, s.options, s.span)
	}
	if _, run := w.(*chatrun.Piece[stream]); !run && cluster.Forwarded(r.Context()) {
		w.Header().Set(cluster.PositionHeader, "1")
		s.subscription.TellPositions()
	}
	g.record(w, r, writer, s)
	err := g.Streams.Serve(ctx, writer, s.subscription, source)
	cut = g.ended(w, r, writer, s, err)
	if errors.Is(err, uistream.ErrDetached) && cluster.Forwarded(r.Context()) {
		panic(http.ErrAbortHandler) // the gateway that passes the stream on goes on at the next owner
	}
}

// ended is what follows the end of a stream. It reports whether the client has left before the end.
func (g *gateway) ended(w http.ResponseWriter, r *http.Request, writer *uistream.Writer, s *stream, err error) (cut bool) {
	if refusal, is := errors.AsType[*uistream.Refusal](err); is && !writer.Begun() {
		g.fail(w, r, refusal.Unwrap())
		return true
	}
	revocation, revoked := errors.AsType[*uistream.Revocation](err)
	if revoked && revocation == uistream.ErrExpired { // the client may come back with another token
		g.Hub.MarkUndelivered(s.turn.Session, s.turn.ID)
	}
	if !s.began.IsZero() {
		g.streamed(r, s.turn, s.began, writer.Sent(), err)
	}
	if wasCut(r, writer.Sent(), err) {
		g.logCut(r, s.turn, err)
	}
	return err != nil && !revoked // a client without access has not left
}

func (g *gateway) logCut(r *http.Request, turn session.Turn, err error) {
	logger := g.Logger.With("session", turn.Session, "turn", turn.ID, "agent", turn.Agent, "by", turn.By, "follower", caller(r))
	if id := (agent.Caller{Traceparent: traceparent(r.Header)}).TraceID(); id != "" {
		logger = logger.With("trace_id", id)
	}
	logger.Warn("stream was cut", "error", err)
}
