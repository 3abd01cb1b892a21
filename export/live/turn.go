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

// skipError says why a turn cannot be exported, now or later.
type skipError struct{ error }

// turn sends a turn, or skips it. The error is of the receiver or of the log, and the turn waits.
func (e *Exporter) turn(ctx context.Context, session string, u eventlog.UnsentTurn) error {
	after, requests, err := e.spans(ctx, session, u)
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
	if err != nil {
		return err
	}
	var sum send.Result
	for i, r := range requests {
		one, err := e.sender.Send(ctx, r)
		requests[i] = otlp.Request{} // it is sent, and takes memory
		sum = sum.Plus(one)
		e.taken = e.taken || one.Sent > 0
		if err != nil {
			return err //nolint:wrapcheck // a sentence
		}
	}
	if sum.Dropped > 0 {
		if !e.taken { // as long as nothing was taken, the spans need not be to blame
			return fmt.Errorf("the receiver takes no span (%s): compare the address and the headers with its documentation", sum.First)
		}
		e.Logger.Warn("the receiver did not take all spans of a turn", "session", session, "turn", u.Turn, "sent", sum.Sent, "dropped", sum.Dropped, "first", sum.First)
	}
	if err := e.log.Sent(ctx, e.Name, session, u.Last); err != nil {
		return err //nolint:wrapcheck // a sentence
	}
	for other := range e.readers {
		if len(e.readers) < mostReaders {
			break
		}
		delete(e.readers, other)
	}
	e.readers[session] = after
	e.succeeded(session, sum)
	return nil
}

// spans reads a turn, and returns with its spans the reader of the turns after it.
func (e *Exporter) spans(ctx context.Context, session string, u eventlog.UnsentTurn) (r reader.Reader, requests []otlp.Request, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = skipError{fmt.Errorf("a fault of the program: %v", p)}
		}
	}()
	if known, ok := e.readers[session]; ok && u.Position != 0 && known.Seen() < u.Last { // else it is of a deleted session
		r = known
	}
	var t *reader.Turn
	records := e.log.Durable(ctx, session, min(r.Seen(), u.First-1), u.Last)
	for one, err := range r.Turns(records) {
		if err != nil {
			if _, damaged := errors.AsType[*eventlog.DamageError](err); damaged {
				return r, nil, skipError{err}
			}
			return r, nil, err
		}
		if one.ID == u.Turn {
			t = one
		}
	}
	if t == nil {
		return r, nil, skipError{errors.New("its records are damaged, or were deleted meanwhile")}
	}
	if err := otlp.CheckTime(t); err != nil {
		return r, nil, skipError{err}
	}
	o := e.Spans
	o.Agent = trace.AgentInfo{Name: u.Agent}
	if requests, err = otlp.Turn(t, o); err != nil {
		return r, nil, skipError{err}
	}
	return r, requests, nil
}
