package gateway

import (
	"net/http"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/session"
)

// downloadCost is how often what is read is in memory while it is sent: as records, and
// as messages or lines.
const downloadCost = 2

// readCost is what a read of the log counts until it is known what there is.
const readCost = downloadCost * session.PageBytes

// reading begins to read a session's log for a request. Every route that reads the log
// begins so: one principal has only so many reads under way, the next ones wait in line,
// and are refused before the first byte of an answer. The caller ends it with Waits. A
// stream that has caught up with the log is no read until it falls behind.
func (g *gateway) reading(r *http.Request) (*http.Request, *bulk, error) {
	b := g.bulk(r, download)
	b.gone = r.Context().Done()
	if err := b.Reads(); err != nil {
		return r, nil, err
	}
	return r.WithContext(eventlog.WithPace(r.Context(), b)), b, nil
}

// Reads implements eventlog.Pace.
func (b *bulk) Reads() error {
	if b.holds > 0 {
		return nil
	}
	return b.hold(readCost)
}

// Waits implements eventlog.Pace.
func (b *bulk) Waits() { b.change(0) }
