package gateway

import (
	"errors"
	"net/http"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// serve streams a part of a turn to one client. The client counts as a
// subscriber of the turn until it leaves; whether it had the end by then decides
// what its leaving means. A chat request is measured from when it began; began is
// zero for a resume, which shows a turn once more and is none.
func (g *gateway) serve(w http.ResponseWriter, r *http.Request, turn session.Turn, span uistream.Span, o uistream.Options, began time.Time) {
	defer g.Meter.Follow()()
	writer := uistream.NewWriter(w, g.Streams.Framing().For(o), g.Timing)
	defer writer.Close()
	if r.Method == http.MethodHead { // a client that only asks whether there is a stream
		if writer.Begin() == nil {
			_ = writer.Done()
		}
		return
	}
	if r.Method == http.MethodGet { // a prompt that was taken has its stream
		goodbye, err := g.limiter.follow(turn.Session)
		if err != nil {
			g.fail(w, r, err)
			return
		}
		defer goodbye()
	}
	pointToTools(w, turn.Session)
	leave, back := g.Hub.Attach(turn.Session, turn.ID), g.Hub.Return(turn.Session, caller(r))
	cut := true // by a panic, for example
	defer func() {
		leave(cut)
		back(cut)
	}()
	reader := g.Hub.Read(turn)
	defer reader.Close()
	key := uistream.Key{Session: turn.Session, Turn: turn.ID, Options: o}
	ctx, gone := g.staying(r.Context(), r, turn.Session)
	defer gone()
	err := g.Streams.Serve(ctx, writer, key, reader, span)
	revocation, revoked := errors.AsType[*uistream.Revocation](err)
	if revoked && revocation == uistream.ErrExpired { // the client may come back with another token
		g.Hub.Owe(turn.Session, turn.ID)
	}
	cut = err != nil && !revoked // a client that was sent away has not left
	if !began.IsZero() {
		g.streamed(r, turn, began, writer.Sent(), err)
	}
	if wasCut(r, writer.Sent(), err) {
		logger := g.Logger.With("session", turn.Session, "turn", turn.ID, "agent", turn.Agent, "by", turn.By, "follower", caller(r))
		if id := (agent.Caller{Traceparent: traceparent(r.Header)}).TraceID(); id != "" {
			logger = logger.With("trace_id", id)
		}
		logger.Warn("stream was cut", "error", err)
	}
}
