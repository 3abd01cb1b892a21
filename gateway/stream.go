package gateway

import (
	"context"
	"iter"
	"net/http"

	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// serve streams a part of a turn to one client. The client counts as a
// follower of the turn until it leaves; whether it had the end by then decides
// what its leaving means.
func (g *gateway) serve(w http.ResponseWriter, r *http.Request, turn session.Turn, span uistream.Span, o uistream.Options) {
	g.meter.streams.Add(1)
	defer g.meter.streams.Add(-1)
	writer := uistream.NewWriter(w, g.Rings.Framing().For(o), g.Timing)
	defer writer.Close()
	if r.Method == http.MethodHead { // who only asks whether there is a stream follows none
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
	leave, back := g.Hub.Attach(turn.Session, turn.ID), g.Hub.Return(turn.Session, caller(r))
	key := uistream.Key{Session: turn.Session, Turn: turn.ID, Options: o}
	err := g.Rings.Serve(r.Context(), writer, key, g.source(turn), span)
	leave(err != nil)
	back(err != nil)
	if err != nil && r.Context().Err() == nil {
		g.Logger.Warn("stream was cut", "session", turn.Session, "turn", turn.ID, "error", err)
	}
}

// source reads the turn from the log.
func (g *gateway) source(turn session.Turn) uistream.Source {
	return func(ctx context.Context, after uint64) iter.Seq2[trace.Record, error] {
		return g.Hub.Follow(ctx, turn.Session, turn.ID, max(after, turn.After))
	}
}
