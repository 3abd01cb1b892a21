package eventlog

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file has what exporters need of a store, and of a log.

// Exports keeps how far each exporter has sent the turns of each session. The records are the
// queue: a turn waits for an exporter while its stop is behind the exporter's position in the
// session. A deleted session has no positions.
type Exports interface {
	// AddExporter makes an exporter known. The first call counts all turns that have ended as
	// sent, and their scores, unless backfill; later calls with the name change nothing.
	AddExporter(ctx context.Context, exporter string, backfill bool) error
	// Unsent lists the sessions of the registry with turns that wait, by the time of their last
	// change. It leaves out sessions that another living gateway writes to.
	Unsent(ctx context.Context, exporter string, q UnsentQuery) ([]UnsentSession, error)
	// NextUnsent is the first turn of the session that waits. Other gateways leave the session alone
	// for 4 leases. ok is false if no turn waits, if another gateway sends it, or if the session's
	// agent is not among agents, where no agents are all.
	NextUnsent(ctx context.Context, exporter, session string, agents []string) (t UnsentTurn, ok bool, err error)
	// Sent moves the exporter's position to the stop of a turn, if the turn is still there and
	// the position is before it. It waits for no disk: after a crash turns may be sent again.
	Sent(ctx context.Context, exporter, session string, stop uint64) error
	// Position is how far the exporter has come in a session: the number of the stop of the last turn
	// that was sent. If none was sent, it is the newest record from before the exporter was known, or 0.
	// ok is false if there is no such session, or if its agent is not among agents.
	Position(ctx context.Context, exporter, session string, agents []string) (stop uint64, ok bool, err error)
	// CountUnsent counts the turns that wait, with those of other gateways.
	CountUnsent(ctx context.Context, exporter string, agents []string) (int, error)
}

// UnsentQuery chooses sessions behind a place in the order of the list.
type UnsentQuery struct {
	After UnsentSession
	// Agents chooses the sessions with one of these agents; none chooses all.
	Agents []string
	Limit  int
}

// UnsentSession is a session in the list.
type UnsentSession struct {
	Session string
	Updated time.Time
}

// UnsentTurn is a turn that waits.
type UnsentTurn struct {
	TurnMark

	Agent string
	// Position is the exporter's position in the session, 0 if it has none.
	Position uint64
}

// mostEnded bounds the sessions that an Ends has.
const mostEnded = 10_000

// Ends collects the sessions whose turns end, or get scores.
type Ends struct {
	log  *Log
	more chan struct{}

	mu       sync.Mutex
	sessions map[string]struct{}
}

// Ends begins to collect. While nobody takes them it holds at most 10 000 sessions, and leaves out
// further ones. The caller closes it.
func (l *Log) Ends() *Ends {
	e := &Ends{log: l, more: make(chan struct{}, 1), sessions: map[string]struct{}{}}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends[e] = struct{}{}
	return e
}

// More has a value when there are sessions to take.
func (e *Ends) More() <-chan struct{} { return e.more }

// Take returns a session in which a turn has ended, or has got a score, since it was taken last.
func (e *Ends) Take() (session string, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for session = range e.sessions {
		delete(e.sessions, session)
		return session, true
	}
	return "", false
}

// Close ends the collecting.
func (e *Ends) Close() {
	e.log.mu.Lock()
	defer e.log.mu.Unlock()
	delete(e.log.ends, e)
}

// ended tells those who collect that a turn of the session has ended, or has got a score.
func (l *Log) ended(session string, events []trace.Event) {
	if !slices.ContainsFunc(events, func(e trace.Event) bool {
		d, _ := e.Payload.(trace.Data)
		_, score := d.Score()
		return score || e.Payload.Kind() == trace.KindStop
	}) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for e := range l.ends {
		e.add(session)
	}
}

func (e *Ends) add(session string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.sessions) < mostEnded {
		e.sessions[session] = struct{}{}
	}
	wake(e.more)
}
