package gateway

import (
	"context"
	"iter"
	"net/http"
	"sync"

	"github.com/tributary-dev/tributary/gateway/limit"
	"github.com/tributary-dev/tributary/uistream"
)

// This file streams items as server-sent events.

// follow streams items as they come, one server-sent event each: frame gives the
// mark to go on from behind it, "" where there is none, and its JSON. It holds no
// more than one of them, which counts with what it weighs, and a client that takes
// nothing is cut by the writer's own limit. It returns what goes wrong before the first
// byte; what does later cuts the connection.
func follow[T any](g *gateway, w http.ResponseWriter, r *http.Request, rd *reading, source iter.Seq2[T, error], weigh func(T) int, frame func(T) (id string, data []byte, err error)) error {
	writer := uistream.NewWriter(w, g.Streams.Framing(), g.Timing)
	if r.Method == http.MethodHead {
		_ = writer.Begin()
		return nil
	}
	ctx, cancel := context.WithCancel(r.Context())
	inHand := g.memory(r, limit.Download, ctx.Done())
	defer inHand.Release()
	type item struct {
		what T
		err  error
	}
	items := make(chan item)
	var reader sync.WaitGroup
	defer rd.Waits()
	defer reader.Wait()
	defer cancel()
	reader.Go(func() {
		defer close(items)
		defer rd.begin(nil)
		for what, err := range source {
			rd.begin(err)
			select {
			case items <- item{what, err}:
			case <-ctx.Done():
				return
			}
		}
	})
	select {
	case <-rd.begun:
		if rd.refused != nil {
			return rd.refused
		}
	case <-ctx.Done():
	}
	if writer.Begin() != nil {
		return nil // the client has gone
	}
	for {
		it, more, err := uistream.Next(ctx, writer, items)
		if away, is := uistream.Revoked(r.Context()); is { // the context of the source may end before ctx
			writeRevoked(writer, away)
			return nil
		}
		if err != nil {
			return nil //nolint:nilerr // the client has gone
		}
		var id string
		var data []byte
		if err = it.err; more && err == nil {
			if err = inHand.Reserve(downloadCost * int64(weigh(it.what))); err == nil {
				id, data, err = frame(it.what)
			}
		}
		if err != nil {
			g.abort(r, err)
		}
		if !more {
			return nil
		}
		var out []byte
		if id != "" {
			out = append(append(append(out, "id: "...), id...), '\n')
		}
		out = append(append(append(out, "data: "...), data...), "\n\n"...)
		if writer.Frames(out) != nil {
			return nil // the client has gone
		}
		inHand.Release()
	}
}

// mark is the sequence number behind which a client wants to go on: that of an EventSource
// that has reconnected, else that in the URL.
func mark(r *http.Request) (after *uint64, err error) {
	const everything = 1<<63 - 1
	name, text := "Last-Event-ID", r.Header.Get("Last-Event-ID")
	if text == "" {
		name, text = "after", r.URL.Query().Get("after")
	}
	if text == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	n, err := number(name, text, 0, 0, everything)
	return &n, err
}
