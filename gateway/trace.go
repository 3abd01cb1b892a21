package gateway

import (
	"iter"
	"net/http"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/session"
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
	records, err := g.Hub.Records(ctx, r.PathValue("id"), session.Filter{After: *after, Deltas: r.URL.Query().Get("deltas") == "1", Live: live})
	if err != nil {
		return err
	}
	if request := r.URL.Query().Get("request"); request != "" {
		records = about(request, records)
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

// about yields the records of one permission request or question: what was asked, and the answer.
func about(request string, records iter.Seq2[trace.Record, error]) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		for rec, err := range records {
			if (err != nil || requestOf(rec.Payload) == request) && !yield(rec, err) {
				return
			}
		}
	}
}

// requestOf is the id of the request that a payload asks or answers, or "".
func requestOf(p trace.Payload) string {
	switch p := p.(type) { //nolint:gochecksumtype // no other kind is about a request
	case trace.PermissionRequest:
		return p.RequestID
	case trace.PermissionResponse:
		return p.RequestID
	case trace.Question:
		return p.QuestionID
	case trace.Answer:
		return p.QuestionID
	default:
		return ""
	}
}

// abort breaks the connection: a response that just ended would look whole.
func (g *gateway) abort(r *http.Request, err error) {
	if r.Context().Err() == nil {
		g.Logger.Error("response broken off", "path", r.URL.Path, "error", err)
	}
	panic(http.ErrAbortHandler)
}
