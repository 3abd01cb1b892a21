package live

import (
	"context"
	"errors"
	"fmt"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/export/otlp"
	"github.com/tributary-dev/tributary/export/otlp/send"
	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/trace"
)

// This file sends one turn.

// mostReaders bounds the sessions whose reading goes on where it ended. The others are read from
// their beginning.
const mostReaders = 128

// place is where the reading of a session goes on.
type place struct {
	reader reader.Reader
	scored uint64 // scores up to this record are sent
}

// remember keeps where the reading of a session goes on.
func (e *Exporter) remember(session string, p place) {
	for other := range e.sessions {
		if len(e.sessions) < mostReaders {
			break
		}
		delete(e.sessions, other)
	}
	e.sessions[session] = p
}

// skipError says why a turn cannot be exported, now or later.
type skipError struct{ error }

// turn sends a turn, or skips it. The error is of the receiver or of the log, and the turn waits.
func (e *Exporter) turn(ctx context.Context, session string, u eventlog.UnsentTurn) error {
	after, requests, scores, err := e.spans(ctx, session, u)
	if _, skip := errors.AsType[skipError](err); skip {
		e.Logger.Warn("a turn is not exported", "session", session, "turn", u.Turn, "error", err)
		if err := e.log.Sent(ctx, e.Name, session, u.Last); err != nil {
			return err //nolint:wrapcheck // a sentence
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.status.Skipped++
		return nil
	}
	if err == nil {
		err = e.sendScores(ctx, session, scores)
	}
	if err != nil {
		return err
	}
	sum, err := e.deliver(ctx, session, requests)
	if err != nil {
		return err
	}
	if err := e.log.Sent(ctx, e.Name, session, u.Last); err != nil {
		return err //nolint:wrapcheck // a sentence
	}
	e.remember(session, after)
	e.succeeded(session, 1, sum)
	return nil
}

// deliver sends requests. It empties the list: what is sent takes memory.
func (e *Exporter) deliver(ctx context.Context, session string, requests []otlp.Request) (sum send.Result, err error) {
	for i, r := range requests {
		one, err := e.sender.Send(ctx, r)
		requests[i] = otlp.Request{}
		sum = sum.Plus(one)
		e.taken = e.taken || one.Sent > 0
		if err != nil {
			return sum, err //nolint:wrapcheck // a sentence
		}
	}
	if sum.Dropped > 0 {
		if !e.taken { // as long as nothing was taken, the spans need not be to blame
			return sum, fmt.Errorf("the receiver takes no span (%s): compare the address and the headers with its documentation", sum.First)
		}
		e.Logger.Warn("the receiver did not take all spans of a session", "session", session, "sent", sum.Sent, "dropped", sum.Dropped, "first", sum.First)
	}
	return sum, nil
}

// spans reads a turn, and returns with its spans the place of what comes after it, and the scores that
// were read on the way and may not be sent yet.
func (e *Exporter) spans(ctx context.Context, session string, u eventlog.UnsentTurn) (at place, requests []otlp.Request, scores []*reader.Score, err error) {
	defer recovered(&err)
	if known, ok := e.sessions[session]; ok && u.Position != 0 && known.reader.Seen() < u.Last { // else it is of a deleted session
		at = known
	}
	from := max(at.scored, u.Position)
	at.scored = max(from, u.Last)
	var t *reader.Turn
	records := e.log.Durable(ctx, session, min(at.reader.Seen(), u.First-1), u.Last)
	for one, err := range at.reader.Turns(scoresIn(records, from, &scores)) {
		if err != nil {
			return at, nil, nil, damaged(err)
		}
		if one.ID == u.Turn {
			t = one
		}
	}
	if t == nil {
		return at, nil, nil, skipError{errors.New("its records are damaged, or were deleted meanwhile")}
	}
	if err := otlp.CheckTime(t); err != nil {
		return at, nil, nil, skipError{err}
	}
	o := e.Spans
	o.Agent = trace.AgentInfo{Name: u.Agent}
	if requests, err = otlp.Turn(t, o); err != nil {
		return at, nil, nil, skipError{err}
	}
	return at, requests, scores, nil
}

// recovered makes a fault of the program one of its turn.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = skipError{fmt.Errorf("a fault of the program: %v", p)}
	}
}

// damaged is an error of reading. Damage stays, so its turn is skipped.
func damaged(err error) error {
	if _, is := errors.AsType[*eventlog.DamageError](err); is {
		return skipError{err}
	}
	return err
}
