package uistream

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/tributary-dev/tributary/trace"
)

// Source yields the records of one turn with a number greater than after, as
// they come, and ends after the stop record, with an error, or with ctx.
type Source func(ctx context.Context, after uint64) iter.Seq2[trace.Record, error]

// errNoStop says that a source ended before the turn did.
var errNoStop = errors.New("the log of the turn ended before the turn")

// entryCost is what an entry costs besides its bytes.
const entryCost = 128

// ring is the newest part of one turn, encoded for one kind of client.
type ring struct {
	key    Key
	cancel context.CancelFunc
	window int

	mu      sync.RWMutex
	wake    chan struct{} // closed when anything below changes
	entries []entry
	first   uint64 // how many entries were dropped before entries[0]
	base    entry  // the last one dropped: only seq and offset
	size    int
	over    bool
	err     error

	// users and idle belong to the Rings.
	users int
	idle  stopper
}

type stopper interface{ Stop() bool }

func newRing(key Key, window int, cancel context.CancelFunc) *ring {
	return &ring{key: key, cancel: cancel, window: window, wake: make(chan struct{})}
}

// run reads the turn once, for all.
func (r *ring) run(ctx context.Context, source Source, f Framing) {
	p := pipe{translator: NewTranslator(r.key.Options), framing: f}
	for record, err := range source(ctx, 0) {
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			r.finish(err)
			return
		}
		e := p.next(record)
		r.add(e)
		if e.end {
			r.finish(nil)
			return
		}
	}
	if err := context.Cause(ctx); err != nil {
		r.finish(err)
		return
	}
	r.finish(errNoStop)
}

func (r *ring) add(e entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, e)
	r.size += len(e.bytes) + entryCost
	drop := 0
	for r.size > r.window && drop < len(r.entries)-1 {
		r.size -= len(r.entries[drop].bytes) + entryCost
		drop++
	}
	if drop > 0 {
		r.base = entry{seq: r.entries[drop-1].seq, offset: r.entries[drop-1].offset}
		r.first += uint64(drop)
		clear(r.entries[:drop]) // readers hold copies; the bytes may go
		r.entries = r.entries[drop:]
	}
	r.changed()
}

func (r *ring) finish(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over, r.err = true, err
	r.changed()
}

func (r *ring) changed() {
	close(r.wake)
	r.wake = make(chan struct{})
}

// view is what a reader finds at its place.
type view struct {
	entries []entry // copies
	fell    bool    // its place is gone
	over    bool    // nothing will follow
	err     error
	wake    <-chan struct{}
}

// look returns up to about 32 KB from the place on. The copies are put into buf.
func (r *ring) look(at uint64, buf []entry) view {
	r.mu.RLock()
	defer r.mu.RUnlock()
	v := view{entries: buf[:0], wake: r.wake}
	if at < r.first {
		v.fell = true
		return v
	}
	rest := r.entries[at-r.first:]
	n := 0
	for i := 0; i < len(rest) && n < flushAt; i++ {
		v.entries = append(v.entries, rest[i])
		n += len(rest[i].bytes)
	}
	if len(v.entries) == len(rest) {
		v.over, v.err = r.over, r.err
	}
	return v
}

// joins finds the place after the record with that number, if a reader who has
// had as many bytes up to there as the ring may go on here. The bytes differ
// when the log has dropped deltas that the ring has seen; then it may not.
func (r *ring) joins(seq uint64, offset int64) (at uint64, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if seq == r.base.seq {
		return r.first, offset == r.base.offset
	}
	i, found := slices.BinarySearchFunc(r.entries, seq, func(e entry, seq uint64) int {
		switch {
		case e.seq < seq:
			return -1
		case e.seq > seq:
			return 1
		default:
			return 0
		}
	})
	if !found || r.entries[i].offset != offset {
		return 0, false
	}
	return r.first + uint64(i) + 1, true //nolint:gosec // an index is not negative
}
