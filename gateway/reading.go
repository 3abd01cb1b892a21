package gateway

import (
	"context"
	"net/http"
	"sync"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/session"
)

// This file bounds the reads of each principal.

// downloadCost is how often the records of an answer are in memory while it is sent: as
// records, and as messages or lines.
const downloadCost = 2

// readCost is what a read of the log counts until its size is known: its largest record is in
// memory twice on its way out of the database, and twice on its way to the client.
const readCost = 2 * downloadCost * session.PageBytes

// reading counts the reads of a session's log that serve one request. Every route that
// reads the log makes one. A principal has only so many reads under way. The next ones
// wait in line, and are refused before the first byte of an answer. A stream that has
// caught up with the log reads nothing, until it falls behind.
type reading struct {
	*memUse
	once    sync.Once
	begun   chan struct{} // closed when a read was let in or refused, or none was needed
	refused error         // why the first read was refused
}

func (g *gateway) reading(ctx context.Context, r *http.Request) (context.Context, *reading) {
	b := g.memUse(r, download)
	b.gone = ctx.Done()
	rd := &reading{memUse: b, begun: make(chan struct{})}
	return eventlog.WithPace(ctx, rd), rd
}

// Reads implements eventlog.Pace.
func (rd *reading) Reads() error {
	if rd.holds > 0 {
		return nil
	}
	err := rd.reserve(readCost)
	rd.begin(err)
	return err
}

// Waits implements eventlog.Pace.
func (rd *reading) Waits() {
	rd.change(0)
	rd.begin(nil)
}

// begin tells how the first read went.
func (rd *reading) begin(refused error) {
	rd.once.Do(func() {
		rd.refused = refused
		close(rd.begun)
	})
}

// turnSource is the log of a turn for one stream. What the stream has to catch up with
// counts among the reads of its principal.
type turnSource struct {
	*session.Reader
	g *gateway
	r *http.Request
}

// Admit implements uistream.Source.
func (s turnSource) Admit(ctx context.Context) (done func(), err error) {
	b := s.g.memUse(s.r, download)
	b.gone = ctx.Done()
	if err := b.reserve(readCost); err != nil {
		return nil, err
	}
	return func() { b.change(0) }, nil
}

// page lets a request read a part of a log at once. The caller ends the reading with Waits.
func (g *gateway) page(r *http.Request) (*http.Request, *reading, error) {
	ctx, rd := g.reading(r.Context(), r)
	return r.WithContext(ctx), rd, rd.Reads()
}
