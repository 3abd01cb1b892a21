package gateway

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// This file has the route for the records of a session.

// trace exports a session's records as JSON lines; as an event stream it goes on
// as records come.
func (g *gateway) trace(w http.ResponseWriter, r *http.Request) error {
	after, err := mark(r)
	if err != nil {
		return err
	}
	if after == nil {
		after = new(uint64)
	}
	ctx, rd := g.reading(r.Context(), r)
	live := strings.Contains(r.Header.Get("Accept"), "text/event-stream")
	records, err := g.Hub.Records(ctx, r.PathValue("id"), *after, r.URL.Query().Get("deltas") == "1", live)
	if err != nil {
		return err
	}
	if live {
		goodbye, err := g.limiter.Client(r.PathValue("id"))
		if err != nil {
			return err
		}
		defer goodbye()
		return follow(g, w, r, rd, records, func(rec trace.Record) int { return trace.ApproxSize(rec.Payload) }, func(rec trace.Record) (id string, data []byte, err error) {
			data, err = rec.AppendJSON(nil)
			return strconv.FormatUint(rec.Seq, 10), data, err
		})
	}
	if err := rd.Reads(); err != nil {
		return err
	}
	defer rd.Waits()
	w.Header().Set("Content-Type", "application/x-ndjson")
	var line []byte
	for rec, err := range records {
		if err == nil {
			line, err = rec.AppendJSON(line[:0])
		}
		if err != nil && line == nil {
			return err // nothing was sent
		}
		if err != nil {
			g.abort(r, err)
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return nil //nolint:nilerr // the client has gone
		}
	}
	return nil
}

// abort breaks the connection: a response that just ended would look whole.
func (g *gateway) abort(r *http.Request, err error) {
	if r.Context().Err() == nil {
		g.Logger.Error("response broken off", "path", r.URL.Path, "error", err)
	}
	panic(http.ErrAbortHandler)
}
