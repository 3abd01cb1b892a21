package uistream

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// Source yields the records of one turn with a number greater than after, as
// they come, and ends after the stop record, with an error, or with ctx.
type Source func(ctx context.Context, after uint64) iter.Seq2[trace.Record, error]

// errNoStop says that a source ended before the turn did.
var errNoStop = errors.New("the log of the turn ended before the turn")

// ring is the newest part of one turn, encoded for one kind of client.
type ring struct {
	key    Key
	cancel context.CancelFunc
	window int

	mu      sync.RWMutex
	wake    chan struct{} // closed when anything below changes
	shelves []*shelf
	first   uint64 // place of the first record that is not dropped
	base    mark   // the last one dropped: only seq and offset
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
func (r *ring) run(ctx context.Context, source Source, f Framing, c *cost) {
	p := pipe{translator: NewTranslator(r.key.Options), framing: f}
	for record, err := range source(ctx, 0) {
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			r.finish(err)
			return
		}
		began := time.Now()
		e := p.next(record)
		c.spend(time.Since(began))
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
	n := len(r.shelves)
	if n == 0 || !r.shelves[n-1].put(e) {
		r.shelves = append(r.shelves, newShelf(r.next(), e, r.window))
	}
	r.size += len(e.bytes) + markCost
	for r.size > r.window && len(r.shelves) > 1 {
		s := r.shelves[0]
		r.size -= len(s.frames) + len(s.marks)*markCost
		r.base = s.marks[len(s.marks)-1]
		r.shelves[0], r.shelves = nil, r.shelves[1:] // readers hold what they copied
		r.first = r.shelves[0].first
	}
	r.changed()
}

// next is the place of the record that comes next.
func (r *ring) next() uint64 {
	if n := len(r.shelves); n > 0 {
		return r.shelves[n-1].next()
	}
	return 0
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
	n := 0
	for i := r.shelfAt(at); i < len(r.shelves) && n < flushAt; i++ {
		s := r.shelves[i]
		for ; at < s.next() && n < flushAt; at++ {
			e := s.entry(at)
			v.entries = append(v.entries, e)
			n += len(e.bytes)
		}
	}
	if at == r.next() {
		v.over, v.err = r.over, r.err
	}
	return v
}

// shelfAt finds the shelf on which a place is.
func (r *ring) shelfAt(at uint64) int {
	return sort.Search(len(r.shelves), func(i int) bool { return r.shelves[i].next() > at })
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
	i := sort.Search(len(r.shelves), func(i int) bool { return r.shelves[i].last().seq >= seq })
	if i == len(r.shelves) {
		return 0, false
	}
	s := r.shelves[i]
	j, found := slices.BinarySearchFunc(s.marks, seq, func(m mark, seq uint64) int { return cmp.Compare(m.seq, seq) })
	if !found || s.marks[j].offset != offset {
		return 0, false
	}
	return s.first + uint64(j) + 1, true //nolint:gosec // an index is not negative
}
