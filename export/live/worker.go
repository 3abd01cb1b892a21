package live

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// This file has the worker: which turn is next, and when.

const (
	// attempts is how often a request is sent before another session has its turn.
	attempts = 4
	// Pauses after failures.
	firstPause = 5 * time.Second
	mostPause  = time.Minute
	// scanEvery is the time between two looks at the log for turns whose end was not heard of. A
	// look is at sessions that changed in the last window, and once in fullEvery at all.
	scanEvery = 5 * time.Second
	window    = time.Hour
	fullEvery = time.Hour
	page      = 256
	// mostBehind bounds the sessions that are known to wait for another try, and tellEvery the lines
	// in the log while a receiver is down.
	mostBehind = 10_000
	tellEvery  = 10 * time.Minute
)

// failing is a session whose next turn was tried in vain.
type failing struct {
	since, next time.Time
	times       int
}

// pause is the wait after so many failures, from 1 on.
func pause(times int) time.Duration { return min(firstPause<<min(times-1, 10), mostPause) }

// run sends turns until ctx ends.
func (e *Exporter) run(ctx context.Context, ends *eventlog.Ends) {
	tick := time.NewTicker(scanEvery)
	defer tick.Stop()
	for scan := true; ctx.Err() == nil; {
		if scan {
			e.scan(ctx, ends)
		}
		e.ended(ctx, ends)
		select {
		case <-ctx.Done():
		case <-ends.More():
			scan = false
		case <-tick.C:
			scan = true
		}
	}
}

// ended sends the turns of sessions of which a turn has just ended.
func (e *Exporter) ended(ctx context.Context, ends *eventlog.Ends) {
	for ctx.Err() == nil {
		session, ok := ends.Take()
		if !ok {
			return
		}
		e.session(ctx, session)
	}
}

// scan sends what the log knows to wait. Turns that end meanwhile do not wait for the end of a scan.
func (e *Exporter) scan(ctx context.Context, ends *eventlog.Ends) {
	e.mu.Lock()
	again := maps.Clone(e.behind)
	e.mu.Unlock()
	for session := range again {
		e.session(ctx, session)
	}
	now := time.Now()
	q := eventlog.UnsentQuery{After: eventlog.UnsentSession{Updated: e.since}, Agents: e.Agents, Limit: page}
	if now.Sub(e.full) >= fullEvery {
		q.After, e.full = eventlog.UnsentSession{}, now
	}
	for ctx.Err() == nil {
		sessions, err := e.log.Unsent(ctx, e.Name, q)
		if err != nil {
			e.full = time.Time{}
			e.inVain(ctx, "", err)
			return
		}
		for _, s := range sessions {
			e.session(ctx, s.Session)
			e.ended(ctx, ends)
			q.After = s
		}
		if len(sessions) < page {
			e.since = now.Add(-window)
			return
		}
	}
}

// session sends the turns of a session that wait, in their order, up to one that is sent in vain, and then
// the scores that have come since.
func (e *Exporter) session(ctx context.Context, session string) {
	e.mu.Lock()
	f := e.behind[session]
	e.mu.Unlock()
	if f != nil && time.Now().Before(f.next) {
		return
	}
	for ctx.Err() == nil {
		u, ok, err := e.log.NextUnsent(ctx, e.Name, session, e.Agents)
		last := err == nil && !ok // all are sent, or the session is deleted, or another gateway's
		if last {
			err = e.scores(ctx, session)
		} else if err == nil {
			err = e.turn(ctx, session, u)
		}
		if err != nil {
			e.inVain(ctx, session, err)
			return
		}
		if last {
			e.mu.Lock()
			delete(e.behind, session)
			e.mu.Unlock()
		}
		if e.inRow >= 2 && !e.told.IsZero() {
			e.told = time.Time{}
			e.Logger.Info("the receiver takes spans again")
		}
		e.inRow = 0
		if last {
			return
		}
	}
}

// inVain notes a failure. After two in a row, which are of two sessions or of the same one twice,
// the worker pauses: the receiver or the log is down. One alone may be of its turn.
func (e *Exporter) inVain(ctx context.Context, session string, err error) {
	if ctx.Err() != nil || errors.Is(err, eventlog.ErrClosed) {
		return
	}
	now := time.Now()
	e.failed(err.Error())
	if e.inRow++; now.Sub(e.told) >= tellEvery {
		e.told = now
		e.Logger.Warn("turns wait, and are sent again and again", "error", err)
	}
	if session != "" {
		e.mu.Lock()
		if len(e.behind) >= mostBehind {
			clear(e.behind)
			e.full = time.Time{} // the next scan finds them
		}
		f := e.behind[session]
		if f == nil {
			f = &failing{since: now.UTC()}
			e.behind[session] = f
		}
		f.times++
		f.next = now.Add(pause(f.times))
		e.mu.Unlock()
	}
	if e.inRow < 2 {
		return
	}
	timer := time.NewTimer(pause(e.inRow - 1))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
