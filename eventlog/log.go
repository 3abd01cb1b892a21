package eventlog

import (
	"container/list"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file has the Log: a store that wakes its readers.

// Defaults of Options. Whoever reads along is served from memory also when it is a
// little behind. What is older is the store's, which can afford it: what stands here
// the collector of garbage visits each time.
const (
	defaultTailRecords = 4096
	defaultTailBytes   = 2 << 20
	defaultTotalBytes  = 64 << 20
	defaultAge         = 2 * time.Second
)

// Options bound the memory of a Log. The zero value is good.
type Options struct {
	// TailRecords and TailBytes bound the newest records of one session that
	// are kept in memory (4096, 2 MB). A negative number keeps none.
	TailRecords, TailBytes int
	// TotalBytes bounds the tails of all sessions (64 MB). The one that was
	// appended to longest ago goes first.
	TotalBytes int
	// Age is how long a record stays in memory (2 s); twice that, at most, while
	// others come after it.
	Age time.Duration
}

// Log is a Store that wakes its readers. It is safe for concurrent use.
type Log struct {
	Store
	opts Options

	mu       sync.Mutex
	sessions map[string]*sessionState
	tails    *list.List // of *live with a tail, the one appended to last in front
	bytes    int        // of all tails
	deletes  uint64     // how often Delete was called
	evictor  *time.Timer
	closed   bool
}

// sessionState is a session that somebody watches or that has a tail.
type sessionState struct {
	session  string
	watchers int
	wake     chan struct{} // nil when nobody asked for it since the last append
	durable  chan struct{} // the same, since the last append of a durable record
	tail     tail
	inTails  *list.Element
	appended time.Time
}

// New returns a Log over the store, which it owns from now on.
func New(s Store, o Options) *Log {
	o.TailRecords = orDefault(o.TailRecords, defaultTailRecords)
	o.TailBytes = orDefault(o.TailBytes, defaultTailBytes)
	o.TotalBytes = orDefault(o.TotalBytes, defaultTotalBytes)
	if o.Age <= 0 {
		o.Age = defaultAge
	}
	return &Log{Store: s, opts: o, sessions: map[string]*sessionState{}, tails: list.New()}
}

func orDefault(n, byDefault int) int {
	if n == 0 {
		return byDefault
	}
	return n
}

// Append implements Store, and wakes whoever watches the session.
func (l *Log) Append(ctx context.Context, session, turn string, events []trace.Event) (uint64, error) {
	return l.write(session, turn, events, func() (uint64, error) { return l.Store.Append(ctx, session, turn, events) })
}

// AppendWith implements Store.
func (l *Log) AppendWith(ctx context.Context, e Entry, turn string, events []trace.Event) (uint64, error) {
	return l.write(e.Session, turn, events, func() (uint64, error) { return l.Store.AppendWith(ctx, e, turn, events) })
}

func (l *Log) write(session, turn string, events []trace.Event, do func() (uint64, error)) (uint64, error) {
	l.mu.Lock()
	deletes := l.deletes
	l.mu.Unlock()

	last, err := do()

	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil || deletes != l.deletes {
		// Some of it may be on record, or none of it any more: only the store knows.
		l.forget(session)
	} else if len(events) > 0 {
		l.remember(session, turn, last, events)
	}
	l.wake(session, err != nil || slices.ContainsFunc(events, isDurable))
	return last, err
}

// After implements Store. It reads memory when that provably holds everything
// after the mark, and else the store.
func (l *Log) After(ctx context.Context, session string, after uint64) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		records, ok := l.recent(session, after)
		if !ok {
			paced(ctx, l.Store.After(ctx, session, after))(yield)
			return
		}
		for _, r := range records {
			if err := ctx.Err(); err != nil {
				yield(trace.Record{}, err)
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Durable implements Store.
func (l *Log) Durable(ctx context.Context, session string, after, until uint64) iter.Seq2[trace.Record, error] {
	return paced(ctx, l.Store.Durable(ctx, session, after, until))
}

// Follow yields the records with a number greater than after that are there,
// then waits for more. It ends without an error when ctx is done, and else only
// with an error, which is the last thing it yields.
func (l *Log) Follow(ctx context.Context, session string, after uint64) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		w := l.Watch(session)
		defer w.Close()
		for ctx.Err() == nil {
			// Taken before reading: an append between the two is not missed.
			woken := w.Appended()
			for r, err := range l.After(ctx, session, after) {
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

// FollowDurable is Follow without ephemeral records, and is not woken by them.
func (l *Log) FollowDurable(ctx context.Context, session string, after uint64) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		w := l.Watch(session)
		defer w.Close()
		for ctx.Err() == nil {
			woken := w.DurableAppended() // as in Follow
			records, upTo, err := l.durableAfter(ctx, session, after)
			for r, failed := range records {
				if err = errors.Join(err, failed); err != nil {
					break
				}
				if !yield(r, nil) {
					return
				}
			}
			if err != nil {
				if ctx.Err() == nil {
					yield(trace.Record{}, err)
				}
				return
			}
			after = upTo
			PaceOf(ctx).Waits()
			select {
			case <-ctx.Done():
			case <-woken:
			}
		}
	}
}

// durableAfter is what is there now, and how far it goes: past the ephemeral
// records too, so that the next look finds its mark in memory.
func (l *Log) durableAfter(ctx context.Context, session string, after uint64) (iter.Seq2[trace.Record, error], uint64, error) {
	if records, ok := l.recent(session, after); ok {
		if len(records) > 0 {
			after = records[len(records)-1].Seq
		}
		return func(yield func(trace.Record, error) bool) {
			for _, r := range records {
				if !trace.Ephemeral(r.Payload) && !yield(r, nil) {
					return
				}
			}
		}, after, nil
	}
	last, err := l.Last(ctx, session)
	if err != nil || last <= after {
		return func(func(trace.Record, error) bool) {}, after, err
	}
	return l.Durable(ctx, session, after, last), last, nil
}

func isDurable(e trace.Event) bool { return !trace.Ephemeral(e.Payload) }

// Delete implements Store. Whoever follows the session is woken and finds
// nothing; it goes on waiting.
func (l *Log) Delete(ctx context.Context, session string) error {
	l.drop(session)
	err := l.Store.Delete(ctx, session)
	l.drop(session)
	return err
}

func (l *Log) drop(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deletes++
	l.forget(session)
	l.wake(session, true)
}

// Close implements Store. Everybody who follows gets ErrClosed.
func (l *Log) Close() error {
	err := l.Store.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.evictor != nil {
		l.evictor.Stop()
	}
	for session := range l.sessions {
		l.forget(session)
		l.wake(session, true)
	}
	return err
}
