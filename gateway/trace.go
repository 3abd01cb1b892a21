package gateway

import (
	"net/http"
	"strings"
)

// trace exports a session's records as JSON lines; as an event stream it goes on
// as records come.
func (g *gateway) trace(w http.ResponseWriter, r *http.Request) error {
	const everything = 1<<63 - 1
	name, from := "after", r.URL.Query().Get("after")
	if from == "" {
		name, from = "Last-Event-ID", r.Header.Get("Last-Event-ID") // an EventSource that comes back
	}
	after, err := number(name, from, 0, 0, everything)
	if err != nil {
		return err
	}
	follow := strings.Contains(r.Header.Get("Accept"), "text/event-stream")
	records, err := g.Hub.Records(r.Context(), r.PathValue("id"), after, r.URL.Query().Get("deltas") == "1", follow)
	if err != nil {
		return err
	}
	if follow {
		return g.followTrace(w, r, records)
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	var line []byte
	for rec, err := range records {
		if err == nil {
			line, err = rec.AppendJSON(line[:0])
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
