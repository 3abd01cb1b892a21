package uistream

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"iter"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file has the live buffer of a turn, which is filled from the log.

// The live buffer of a turn, and the log that it is filled from.

// Source is the log of one session, from which one subscriber reads a turn.
type Source interface {
	// Records yields the records of the session with a greater number that are there now,
	// and ends. Previews may be missing or merged: a delta holds only text that no record
	// up to the number has.
	Records(ctx context.Context, after uint64) iter.Seq2[trace.Record, error]
	// Changed returns a channel that closes when there may be more. Take it, read, then
	// wait for it.
	Changed() <-chan struct{}
	// Ended is closed once nothing is written to the turn any more, after the channel of
	// the last record.
	Ended() <-chan struct{}
	// Held reports, of a turn that has Ended, whether its prompt has not begun and is held in
	// the queue.
	Held() bool
	// Admit waits until the subscriber may read older records, and returns the function that
	// ends the reading. A subscriber that follows a turn as it happens does not call Admit.
	Admit(ctx context.Context) (done func(), err error)
}

var (
	errNoStop = errors.New("the log of the turn ended before the turn")
	errPanic  = errors.New("the turn could not be encoded")
)

// segmentsOfWindow is how many segments fill a window. A segment is small beside what is
// kept of a turn, and large beside a frame.
const segmentsOfWindow = 16

// pullsOfWindow is how many pulls fill a window. It bounds how long a subscriber encodes for
// the others before it writes to its own client, which must not fall behind meanwhile.
const pullsOfWindow = 4

// liveBuffer is the newest part of one turn, encoded for one kind of client.
//
// There is no goroutine between the log and the subscribers. An append to the log wakes
// all of them. The first one to come pulls: it encodes what is new, for all. The others
// write what they find. So nothing holds the agent up, also if encoding is slow, a turn
// that no client reads costs nothing, and a buffer owns nothing that must be stopped. A
// subscriber that waits for its client pulls nothing, and then another one does.
type liveBuffer struct {
	key     Key
	window  int
	segment int // how many bytes fill a segment; the last frame may be longer

	// Of the subscriber that pulls:
	encoder *encoder
	filling block // the newest segment, and what is not published of it yet

	mu       sync.Mutex
	pulling  bool
	pulled   chan struct{}   // closes when the pull that runs is over; made if somebody waits
	changed  <-chan struct{} // closes when the log may have more; nil if that is not known
	segments []*segment      // never empty
	size     int             // of the segments
	reported int             // how much of it the Broadcaster has counted
	failure  error           // the encoder has failed: nothing will follow

	// Guarded by the Broadcaster's mutex:
	subscribers int
	counted     int
	place       *list.Element
	idle        *time.Timer
}

// segment is a part of a turn that is kept, and dropped, as a whole.
type segment struct {
	index int      // among all segments of the turn
	block          // what is published
	after *encoder // the state behind the last record, once another segment follows
	state int      // about how many bytes the state has
}

// size is what the segment costs in memory.
func (s *segment) size() int { return s.block.size() + s.state }

func newLiveBuffer(key Key, c BroadcasterConfig) *liveBuffer {
	return &liveBuffer{
		key: key, window: c.Window, segment: max(1, c.Window/segmentsOfWindow),
		encoder: newEncoder(key.Turn, key.Options, c.Framing), segments: []*segment{{}},
	}
}

// pull encodes what the log has beyond the buffer. Only one subscriber pulls at a time.
func (b *liveBuffer) pull(ctx context.Context, source Source, c *cost) (grown int, err error) {
	changed := source.Changed()
	all := false
	defer func() {
		if err != nil || !all {
			changed = nil
		}
		grown = b.publish(changed, err)
	}()
	for left := max(1, b.window/pullsOfWindow); left > 0 && !all; {
		if len(b.filling.frames) >= b.segment {
			b.next()
		}
		size := b.filling.size()
		if all, err = b.encoder.read(source.Records(ctx, b.encoder.seq), &b.filling, min(left, b.segment), c); err != nil {
			return 0, err
		}
		left -= b.filling.size() - size
	}
	return 0, nil
}

// next begins another segment.
func (b *liveBuffer) next() {
	after := b.encoder.clone()
	b.mu.Lock()
	defer b.mu.Unlock()
	last := b.newest()
	last.block, last.after, last.state = b.filling, after, after.translation.size()
	b.recount()
	b.filling = block{frames: make([]byte, 0, b.segment+b.segment/8)} // the turn is long
	b.segments = append(b.segments, &segment{index: last.index + 1})
	b.evictLocked(b.window)
}

// publish shows the subscribers what was pulled, and returns how much the buffer has
// grown, if that is worth counting.
func (b *liveBuffer) publish(changed <-chan struct{}, err error) (grown int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := b.newest()
	last.block = b.filling
	b.recount()
	b.evictLocked(b.window)
	b.pulling, b.changed = false, changed
	if errors.Is(err, errPanic) {
		b.failure = err
	}
	if b.pulled != nil {
		close(b.pulled)
		b.pulled = nil
	}
	if by := b.size - b.reported; by >= b.segment/4 || by <= -b.segment/4 {
		b.reported = b.size
		return by
	}
	return 0
}

// recount counts the segments, of which there are few.
func (b *liveBuffer) recount() {
	b.size = 0
	for _, s := range b.segments {
		b.size += s.size()
	}
}

func (b *liveBuffer) newest() *segment { return b.segments[len(b.segments)-1] }

// evict drops the oldest segments down to so many bytes, but never the newest one.
func (b *liveBuffer) evict(keep int) (freed int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	freed = b.evictLocked(keep)
	b.reported -= freed
	return freed
}

func (b *liveBuffer) evictLocked(keep int) (freed int) {
	for b.size > keep && len(b.segments) > 1 {
		freed += b.segments[0].size()
		b.size -= b.segments[0].size()
		b.segments[0], b.segments = nil, b.segments[1:] // a subscriber may hold it
	}
	return freed
}

// position is where a subscriber stands: in front of a record of a segment.
type position struct {
	segment *segment
	ref     int
}

// view is what a subscriber finds at its position.
type view struct {
	block            // of the records from the position on, and all before them in the segment
	from    int      // the first record
	evicted *encoder // the position was evicted; the state there
	pull    bool     // the subscriber is to pull
	wait    <-chan struct{}
	whole   bool // all that the log has is in the buffer
	err     error
}

// readFrom takes what stands behind the position, and moves the position there. If there is
// nothing, readFrom says what to do. A subscriber that may pull has the right to pull if readFrom
// says so; others only learn that there may be something to pull.
func (b *liveBuffer) readFrom(p *position, mayPull bool) (v view) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for p.ref == len(p.segment.refs) && p.segment != b.newest() {
		next := p.segment.index + 1 - b.segments[0].index
		if next < 0 {
			return view{evicted: p.segment.after}
		}
		p.segment, p.ref = b.segments[next], 0
	}
	if p.ref < len(p.segment.refs) {
		v.block, v.from = p.segment.block, p.ref
		p.ref = len(p.segment.refs)
		return v
	}
	switch {
	case b.failure != nil:
		return view{err: b.failure}
	case b.pulling:
		if b.pulled == nil {
			b.pulled = make(chan struct{})
		}
		return view{wait: b.pulled}
	case mayPull && b.claimLocked(), !mayPull && b.staleLocked():
		return view{pull: true}
	}
	return view{wait: b.changed, whole: true}
}

// claim gives the caller the right to pull, if there may be something to pull and no other
// subscriber is at it.
func (b *liveBuffer) claim() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.claimLocked()
}

func (b *liveBuffer) claimLocked() bool {
	if b.pulling || b.failure != nil || !b.staleLocked() {
		return false
	}
	b.pulling = true
	return true
}

// staleLocked reports whether the log may have more than the buffer.
func (b *liveBuffer) staleLocked() bool { return b.changed == nil || isClosed(b.changed) }

// start is the position of a subscriber who wants the records from that number on.
func (b *liveBuffer) start(from uint64, f Framing) position {
	b.forgetChange()
	b.mu.Lock()
	defer b.mu.Unlock()
	first := b.segments[0]
	if first.index == 0 || len(first.refs) > 0 && first.refs[0].seq <= from {
		return position{first, 0}
	}
	return position{&segment{index: -1, after: newEncoder(b.key.Turn, b.key.Options, f)}, 0}
}

// forgetChange has the next subscriber look whether the log has more: the channel that says
// so may be of a reader that has left, and then it never closes.
func (b *liveBuffer) forgetChange() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed = nil
}

// locate finds the position behind the encoder's last record, if the buffer has told its
// readers the same up to there. The content differs if the log lacks what the buffer has
// seen.
func (b *liveBuffer) locate(e *encoder) (p position, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := sort.Search(len(b.segments), func(i int) bool {
		m := b.segments[i].refs
		return len(m) > 0 && m[len(m)-1].seq >= e.own
	})
	if i == len(b.segments) {
		return position{}, false
	}
	s := b.segments[i]
	j, found := slices.BinarySearchFunc(s.refs, e.own, func(m recordRef, seq uint64) int { return cmp.Compare(m.seq, seq) })
	return position{s, j + 1}, found && s.refs[j].content == e.content
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
