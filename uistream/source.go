package uistream

import (
	"context"
	"iter"

	"github.com/tributary-dev/tributary/trace"
)

// This file has the log that a subscriber reads.

// Source is the log of one session, from which one subscriber reads a turn.
type Source interface {
	// Records yields the records of the session with a greater number that are there now,
	// and ends. Previews may be missing or merged: a delta holds only text that no record
	// up to the number has.
	Records(ctx context.Context, after uint64) iter.Seq2[trace.Record, error]
	// Recent are these records, if memory has them all.
	Recent(after uint64) (records []trace.Record, all bool)
	// Watch has woken, whose capacity is one, get a value after there may be more, and after the turn has
	// Ended, until stop is called.
	Watch(woken chan<- struct{}) (stop func())
	// Ended is closed once nothing is written to the turn any more.
	Ended() <-chan struct{}
	// Held reports, of a turn that has Ended, whether its prompt has not begun and is held in
	// the queue.
	Held() bool
	// Detached reports, of a turn that has Ended, whether it goes on without this gateway.
	Detached() bool
	// Admit waits until the subscriber may read older records, or a large one, and returns the
	// function that ends the reading. A subscriber that follows a turn as it happens does not call Admit.
	Admit(ctx context.Context) (done func(), err error)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
