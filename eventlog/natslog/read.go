package natslog

import (
	"context"
	"iter"
	"math"

	"github.com/tributary-dev/tributary/trace"
)

// After implements eventlog.Store.
func (s *Store) After(ctx context.Context, id string, after uint64) iter.Seq2[trace.Record, error] {
	return s.read(ctx, id, after, 0, true)
}

// Wholes implements eventlog.Store.
func (s *Store) Wholes(ctx context.Context, id string, after, until uint64) iter.Seq2[trace.Record, error] {
	return s.read(ctx, id, after, until, false)
}

func (s *Store) read(ctx context.Context, id string, after, until uint64, deltas bool) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		if until == 0 {
			until = math.MaxUint64
		}
		if err := s.readTo(ctx, id, after, until, deltas, yield); err != nil {
			yield(trace.Record{}, s.failure("read session "+id, err))
		}
	}
}

func (s *Store) readTo(ctx context.Context, id string, after, until uint64, deltas bool, yield func(trace.Record, error) bool) error {
	se, err := s.acquire(ctx, id)
	if err != nil {
		return err
	}
	defer s.release(se)
	se.mu.Lock()
	after, until = max(after, se.deleted), min(until, se.last)
	se.mu.Unlock()
	if after >= until {
		return nil
	}
	wholes, err := s.cursor(ctx, se, &se.wholes, after, until)
	if err != nil {
		return err
	}
	defer wholes.close()
	if !deltas {
		return drain(ctx, wholes, yield)
	}
	provisional, err := s.cursor(ctx, se, &se.deltas, after, until)
	if err != nil {
		return err
	}
	defer provisional.close()
	return merge(ctx, wholes, provisional, yield)
}

// cursor begins to read a lane. What is appended from here on is beyond until.
func (s *Store) cursor(ctx context.Context, se *session, l *lane, after, until uint64) (*cursor, error) {
	for {
		se.mu.Lock()
		if !l.needsOlder(after) {
			segments, tail := l.after(after)
			se.mu.Unlock()
			return &cursor{store: s, session: se, kept: l.kept, stream: l.stream, segments: segments, tail: tail, after: after, until: until}, nil
		}
		se.mu.Unlock()
		if err := s.loadOlder(ctx, se, l); err != nil {
			return nil, err
		}
	}
}

func drain(ctx context.Context, c *cursor, yield func(trace.Record, error) bool) error {
	for {
		records, err := c.next(ctx)
		if err != nil || len(records) == 0 {
			return err
		}
		for _, r := range records {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !yield(r, nil) {
				return nil
			}
		}
	}
}

// merge yields the records of two lanes in the order of their numbers.
func merge(ctx context.Context, a, b *cursor, yield func(trace.Record, error) bool) error {
	var fromA, fromB []trace.Record
	var endA, endB bool
	for {
		var err error
		if len(fromA) == 0 && !endA {
			if fromA, err = a.next(ctx); err != nil {
				return err
			}
			endA = len(fromA) == 0
		}
		if len(fromB) == 0 && !endB {
			if fromB, err = b.next(ctx); err != nil {
				return err
			}
			endB = len(fromB) == 0
		}
		if endA && endB {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		from := &fromA
		if len(fromA) == 0 || len(fromB) > 0 && fromB[0].Seq < fromA[0].Seq {
			from = &fromB
		}
		if !yield((*from)[0], nil) {
			return nil
		}
		*from = (*from)[1:]
	}
}
