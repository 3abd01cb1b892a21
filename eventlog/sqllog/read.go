package sqllog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// A page of records that are read at once.
const (
	firstPage = 64
	fullPage  = 512
	pageBytes = 4 << 20

	largestRecord = 32 << 20
)

// view is what a reader may see of a session: one moment of it.
type view struct {
	deletedThrough, durable uint64
	// last is where visibility ends. Records behind it may be committed already.
	last uint64
	// live are the ephemeral records after the reader's mark, in order.
	live []trace.Record
	// recent are durable records that memory has: all behind stored.
	recent []trace.Record
	stored uint64
}

// reading does a read, again while the database is away, but not for longer than Patience since it
// went away. Close waits for it.
func (s *Store) reading(ctx context.Context, do func(context.Context) error) error {
	pause := firstPause
	for began := time.Now(); ; {
		err := func() error {
			ctx, cancel := s.db.bounded(ctx, largestRecord)
			defer cancel()
			return do(ctx)
		}()
		switch {
		case err == nil, errors.Is(err, eventlog.ErrNoSession), isDamage(err):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case !s.db.lost(err) || !s.waits(began):
			return s.db.sentence(err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		pause = min(2*pause, longestPause)
	}
}

// read is reading for a call that comes from outside. A closed store admits none.
func (s *Store) read(ctx context.Context, do func(context.Context) error) error {
	done, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return s.reading(ctx, do)
}

// look takes a view. Of a session that this store writes to, memory knows best.
func (s *Store) look(ctx context.Context, id string, after uint64) (v view, err error) {
	if !plain(id) {
		return view{}, nil // no session has that name
	}
	for {
		if v, ok := s.peek(id, after); ok {
			return v, nil
		}
		var now standing
		var rows []trace.Record
		err = s.reading(ctx, func(ctx context.Context) (err error) {
			if now, err = s.stands(ctx, id); err == nil && now.checkpointed > after {
				rows, err = s.checkpoints(ctx, id)
			}
			return err
		})
		if err != nil {
			return view{}, err
		}
		open, _, err := s.openParts(ctx, now, id, rows[countUpTo(rows, after):])
		if err != nil {
			return view{}, err
		}
		if _, ok := s.peek(id, after); ok {
			continue // it was taken meanwhile, and memory may have what was not read here
		}
		last := max(now.last, now.durable, now.checkpointed)
		return view{deletedThrough: now.deletedThrough, durable: now.durable, stored: now.durable, last: last, live: open}, nil
	}
}

// peek is the view of a session that this gateway owns, or will own with the ops in flight. The
// database has a commit before memory shows the ephemeral records in front of it. A closed store has no view.
func (s *Store) peek(id string, after uint64) (v view, ok bool) {
	s.mu.Lock()
	se, closed := s.sessions[id], s.isClosed()
	s.mu.Unlock()
	if se == nil || closed {
		return v, false
	}
	se.mu.Lock()
	defer se.mu.Unlock()
	if !se.loaded || se.lost || se.term == 0 && len(se.flight) == 0 {
		return v, false
	}
	v = view{deletedThrough: se.deletedThrough, durable: se.durable, last: se.visible(), recent: slices.Clip(se.live.recent), stored: se.live.stored}
	v.live = se.live.after(id, max(after, se.deletedThrough), v.last)
	return v, true
}

// After implements eventlog.Store.
func (s *Store) After(ctx context.Context, id string, after uint64) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		v, err := s.admitted(ctx, id, after)
		if err != nil {
			yield(trace.Record{}, err)
			return
		}
		live := v.live
		for r, err := range s.durable(ctx, id, v, after, 0) {
			for err == nil && len(live) > 0 && live[0].Seq < r.Seq {
				if !yield(live[0], nil) {
					return
				}
				live = live[1:]
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
		yieldAll(ctx, live, yield)
	}
}

// Recent implements eventlog.Store.
func (s *Store) Recent(id string, after uint64) (records []trace.Record, all bool) {
	v, known := s.peek(id, after)
	after = max(after, v.deletedThrough)
	if !known || after < v.stored {
		return nil, false
	}
	recent := v.recent[:countUpTo(v.recent, v.last)]
	recent = recent[countUpTo(recent, after):]
	switch {
	case len(recent) == 0:
		return v.live, true
	case len(v.live) == 0:
		return recent, true
	}
	records = append(slices.Clip(recent), v.live...)
	slices.SortFunc(records, bySeq)
	return records, true
}

// Durable implements eventlog.Store.
func (s *Store) Durable(ctx context.Context, id string, after, until uint64) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		v, err := s.admitted(ctx, id, ^uint64(0)-1)
		if err != nil {
			yield(trace.Record{}, err)
			return
		}
		s.durable(ctx, id, v, after, until)(yield)
	}
}

func (s *Store) admitted(ctx context.Context, id string, after uint64) (view, error) {
	done, err := s.begin(ctx)
	if err != nil {
		return view{}, err
	}
	defer done()
	return s.look(ctx, id, after)
}

// durable yields the durable records of a view behind a number, up to until (0: all).
func (s *Store) durable(ctx context.Context, id string, v view, after, until uint64) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		after, to := max(after, v.deletedThrough), min(v.durable, v.last)
		if until != 0 {
			to = min(to, until)
		}
		for r, err := range s.pages(ctx, id, after, min(to, v.stored)) {
			if !yield(r, err) || err != nil {
				return
			}
		}
		recent := v.recent[:countUpTo(v.recent, to)]
		yieldAll(ctx, recent[countUpTo(recent, after):], yield)
	}
}

// yieldAll yields records until ctx ends, and reports whether more are wanted.
func yieldAll(ctx context.Context, records []trace.Record, yield func(trace.Record, error) bool) bool {
	for _, r := range records {
		if err := ctx.Err(); err != nil {
			yield(trace.Record{}, err)
			return false
		}
		if !yield(r, nil) {
			return false
		}
	}
	return true
}

// pages yields the durable records behind a number and up to another one that the database
// has.
func (s *Store) pages(ctx context.Context, id string, after, to uint64) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		for limit := firstPage; after < to; limit = fullPage {
			records, next, err := s.page(ctx, id, after, to, limit)
			if err != nil {
				yield(trace.Record{}, err)
				return
			}
			if !yieldAll(ctx, records, yield) || next <= after {
				return
			}
			after = next
		}
	}
}

// page reads some records, fewer if they are large, and tells how far it has read. It
// passes over damaged and missing ones, and notes them.
func (s *Store) page(ctx context.Context, id string, after, to uint64, limit int) (records []trace.Record, next uint64, err error) {
	if err := eventlog.PaceOf(ctx).Reads(); err != nil { // which may wait, so it comes before begin
		return nil, 0, err
	}
	done, err := s.begin(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer done()
	var gaps []uint64
	err = s.reading(ctx, func(ctx context.Context) (err error) {
		records, next = records[:0], after
		ctx, cancel := context.WithCancel(ctx)
		defer cancel() // before the rest of a page of large records has come
		rows, err := s.db.read.QueryContext(ctx, `SELECT `+recordColumns+` FROM records WHERE session = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4`, id, after, to, limit)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Err says what matters
		gaps = nil
		newest := after // that is whole
		scanRow := rowScanner()
		for size := 0; size < pageBytes && rows.Next(); {
			made, err := scanRow(rows.Scan)
			if err != nil {
				return err
			}
			size += len(made.body)
			next = max(next, made.seq)
			r, err := made.record()
			if err != nil || !made.said() {
				s.note(id, fmt.Sprint("record ", made.seq))
				continue
			}
			if made.prev > newest {
				gaps = append(gaps, made.prev)
			}
			records, newest = append(records, r), r.Seq
		}
		if newest > after { // what follows it may have a number that is not its own
			next = newest
		}
		return rows.Err()
	})
	for _, seq := range gaps {
		if err == nil {
			err = s.reading(ctx, func(ctx context.Context) error { return s.missing(ctx, id, seq) })
		}
	}
	return slices.Clip(records), next, err
}

// Last implements eventlog.Store.
func (s *Store) Last(ctx context.Context, id string) (uint64, error) {
	v, err := s.admitted(ctx, id, ^uint64(0)-1)
	return v.last, err
}
