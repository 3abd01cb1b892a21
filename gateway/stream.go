package gateway

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// serve streams a turn to one client, from its start. The client counts as a
// follower of the turn until it leaves; whether it had the end by then decides
// what its leaving means.
func (g *gateway) serve(w http.ResponseWriter, r *http.Request, turn session.Turn, o uistream.Options) {
	g.meter.streams.Add(1)
	defer g.meter.streams.Add(-1)
	writer := uistream.NewWriter(w, g.Rings.Framing(), g.Timing)
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
	leave := g.Hub.Attach(turn.Session, turn.ID)
	key := uistream.Key{Session: turn.Session, Turn: turn.ID, Options: o}
	err := g.Rings.Serve(r.Context(), writer, key, g.source(turn), uistream.Span{})
	leave(err != nil)
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

// followTrace streams records as they come, with a comment when there are none
// for a while. The id of a frame is the record's number, so that an EventSource
// goes on where it was cut.
func (g *gateway) followTrace(w http.ResponseWriter, r *http.Request, records iter.Seq2[trace.Record, error]) error {
	ctx, cancel := context.WithCancel(r.Context())
	type item struct {
		record trace.Record
		err    error
	}
	items := make(chan item)
	var reader sync.WaitGroup
	defer reader.Wait()
	defer cancel()
	reader.Go(func() {
		defer close(items)
		for rec, err := range records {
			select {
			case items <- item{rec, err}:
			case <-ctx.Done():
				return
			}
		}
	})
	writer := uistream.NewWriter(w, g.Rings.Framing(), g.Timing)
	if err := writer.Begin(); err != nil || r.Method == http.MethodHead {
		return nil //nolint:nilerr // the client has gone, or wanted no more
	}
	const silence = 15 * time.Second
	keepalive := time.NewTicker(silence)
	defer keepalive.Stop()
	for {
		var frame []byte
		select {
		case it, ok := <-items:
			if !ok {
				return nil
			}
			line, err := it.record.AppendJSON(nil)
			if it.err != nil || err != nil {
				g.abort(r, errors.Join(it.err, err))
			}
			frame = append(frame, "id: "+strconv.FormatUint(it.record.Seq, 10)+"\ndata: "...)
			frame = append(append(frame, line...), "\n\n"...)
		case <-keepalive.C:
			frame = []byte(": keepalive\n\n")
		case <-ctx.Done():
			return nil
		}
		if writer.Frames(frame) != nil || writer.Flush() != nil {
			return nil
		}
	}
}
