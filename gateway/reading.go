package gateway

import (
	"context"
	"net/http"
	"sync"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/gateway/limit"
	"github.com/tributary-dev/tributary/session"
)

// This file bounds the reads of each principal.

// downloadCost is the number of copies of an answer's records in memory while the answer is
// sent: as records, and as messages or lines.
const downloadCost = 2

// readCost is the cost of a read of the log until its size is known. A page is in memory
// twice on its way out of the database, and twice on its way to the client.
const readCost = 2 * downloadCost * session.PageBytes

// reading counts the reads of a session's log that serve one request. Every route that
// reads the log makes one. A principal has only so many reads under way. The next ones
// wait in line, and are refused before the first byte of an answer. A stream that has
// caught up with the log reads nothing, until it falls behind.
type reading struct {
	*limit.Memory
	once    sync.Once
	begun   chan struct{} // closed when a read was let in or refused, or none was needed
	refused error         // why the first read was refused
}

func (g *gateway) reading(ctx context.Context, r *http.Request) (context.Context, *reading) {
	rd := &reading{Memory: g.memory(r, limit.Download, ctx.Done()), begun: make(chan struct{})}
	return eventlog.WithPace(ctx, rd), rd
}

// Reads implements eventlog.Pace.
func (rd *reading) Reads() error {
	if rd.Held() {
		return nil
	}
	err := rd.Reserve(readCost)
	rd.begin(err)
	return err
}

// Waits implements eventlog.Pace.
func (rd *reading) Waits() {
	rd.Release()
	rd.begin(nil)
}

// begin records the result of the first read.
func (rd *reading) begin(refused error) {
	rd.once.Do(func() {
		rd.refused = refused
		close(rd.begun)
	})
}

// turnSource is the log of a turn for one stream. The records that the stream catches up
// with count among the reads of its principal.
type turnSource struct {
	*session.Reader
	g *gateway
	r *http.Request
}

// Admit implements uistream.Source.
func (s turnSource) Admit(ctx context.Context) (done func(), err error) {
	m := s.g.memory(s.r, limit.Download, ctx.Done())
	if err := m.Reserve(readCost); err != nil {
		return nil, err
	}
	return m.Release, nil
}

// page lets a request read a part of a log at once. The caller ends the reading with Waits.
func (g *gateway) page(r *http.Request) (*http.Request, *reading, error) {
	ctx, rd := g.reading(r.Context(), r)
	return r.WithContext(ctx), rd, rd.Reads()
}
