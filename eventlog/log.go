package eventlog

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/tributary-dev/tributary/trace"
)

// This file has the Log: a store that wakes its readers.

// Log is a Store that wakes its readers. It keeps no records: the store knows best which of
// them it needs in memory. It is safe for concurrent use.
type Log struct {
	Store

	mu      sync.Mutex
	watches map[string][]*watch // by session
	ends    map[*Ends]struct{}
	closed  bool
}

// New returns a Log over the store, which it owns from now on.
func New(s Store) *Log {
	return &Log{Store: s, watches: map[string][]*watch{}, ends: map[*Ends]struct{}{}}
}

// Append implements Store, and wakes the readers of the session.
func (l *Log) Append(ctx context.Context, session, turn string, events []trace.Event) (uint64, error) {
	last, err := l.Store.Append(ctx, session, turn, events)
	l.wake(session, err != nil || slices.ContainsFunc(events, isDurable))
	l.ended(session, events)
	return last, unavailable(err)
}

// AppendWith implements Store, and wakes the readers of the session.
func (l *Log) AppendWith(ctx context.Context, e Entry, turn string, events []trace.Event) (uint64, error) {
	last, err := l.Store.AppendWith(ctx, e, turn, events)
	l.wake(e.Session, err != nil || slices.ContainsFunc(events, isDurable))
	l.ended(e.Session, events)
	return last, unavailable(err)
}

func isDurable(e trace.Event) bool { return !trace.Ephemeral(e.Payload) }

// Follow yields the records with a number greater than after that are there,
// then waits for more. It ends without an error when ctx is done, and else only
// with an error, which is the last thing it yields.
func (l *Log) Follow(ctx context.Context, session string, after uint64) iter.Seq2[trace.Record, error] {
	return l.follow(ctx, session, after, false, l.After)
}

// FollowDurable is Follow without ephemeral records, and is not woken by them.
func (l *Log) FollowDurable(ctx context.Context, session string, after uint64) iter.Seq2[trace.Record, error] {
	return l.follow(ctx, session, after, true, func(ctx context.Context, session string, after uint64) iter.Seq2[trace.Record, error] {
		return l.Durable(ctx, session, after, 0)
	})
}

func (l *Log) follow(ctx context.Context, session string, after uint64, durable bool,
	read func(context.Context, string, uint64) iter.Seq2[trace.Record, error],
) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		after := after
		woken := make(chan struct{}, 1)
		defer l.Watch(session, durable, woken)()
		for ctx.Err() == nil {
			for r, err := range read(ctx, session, after) {
				if err != nil {
					if ctx.Err() == nil {
						yield(trace.Record{}, err)
					}
					return
				}
				if !yield(r, nil) {
					return
				}
				after = r.Seq
			}
			PaceOf(ctx).Waits()
			select {
			case <-ctx.Done():
			case <-woken:
			}
		}
	}
}

// Delete implements Store. The readers of the session are woken and find nothing; they go
// on waiting.
func (l *Log) Delete(ctx context.Context, session string) error {
	err := l.Store.Delete(ctx, session)
	l.wake(session, true)
	return unavailable(err)
}

// Close implements Store. The readers of all sessions get ErrClosed.
func (l *Log) Close() error {
	err := l.Store.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, all := range l.watches {
		for _, w := range all {
			wake(w.woken)
		}
	}
	return err
}
