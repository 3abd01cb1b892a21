package eventlog

import (
	"slices"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file keeps the newest records in memory.

// tail is the newest records of a session, without a gap: every record with a
// number greater than from is in it.
type tail struct {
	from    uint64
	records []trace.Record
	bytes   int
	// At aged, the newest record had the number old.
	aged time.Time
	old  uint64
}

// dropTo drops the records up to that number and returns what they weighed.
func (t *tail) dropTo(seq uint64) (weight int) {
	if seq <= t.from {
		return 0
	}
	n := seq - t.from
	for _, r := range t.records[:n] {
		weight += trace.ApproxSize(r.Payload)
	}
	t.from, t.records, t.bytes = seq, t.records[n:], t.bytes-weight
	return weight
}

// recent returns the records after the mark if the tail has all of them.
func (l *Log) recent(session string, after uint64) ([]trace.Record, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.sessions[session]
	if !ok || s.inTails == nil || after < s.tail.from || l.closed {
		return nil, false
	}
	// Appending never writes to this part of the array, so it may be shared.
	return s.tail.records[min(after-s.tail.from, uint64(len(s.tail.records))):], true
}

// remember puts the events of an append at the end of the session's tail.
func (l *Log) remember(session, turn string, last uint64, events []trace.Event) {
	if l.closed || l.opts.TailBytes < 0 || l.opts.TailRecords < 0 || l.opts.TotalBytes < 0 {
		return
	}
	s := l.state(session)
	before := last - uint64(len(events))
	if s.inTails != nil && last <= s.tail.from+uint64(len(s.tail.records)) {
		return // a later append of the same session came here first
	}
	if s.inTails == nil || before != s.tail.from+uint64(len(s.tail.records)) {
		l.bytes -= s.tail.bytes
		s.tail = tail{from: before, aged: time.Now(), old: before}
	}
	if s.inTails == nil {
		s.inTails = l.tails.PushFront(s)
	} else {
		l.tails.MoveToFront(s.inTails)
	}
	s.appended = time.Now()
	for i, e := range events {
		e.Time = e.Time.Round(0).UTC() // as it comes out of a store
		s.tail.records = append(s.tail.records, trace.Record{Session: session, Turn: turn, Seq: before + uint64(i) + 1, Event: e})
		n := trace.ApproxSize(e.Payload)
		s.tail.bytes += n
		l.bytes += n
	}
	l.trim(s)
	l.scheduleEviction()
}

// trim keeps the session's tail and all tails within their bounds.
func (l *Log) trim(s *sessionState) {
	for len(s.tail.records) > l.opts.TailRecords || s.tail.bytes > l.opts.TailBytes {
		l.bytes -= s.tail.dropTo(s.tail.from + 1)
	}
	if s.appended.Sub(s.tail.aged) >= l.opts.Age {
		l.bytes -= s.tail.dropTo(s.tail.old)
		s.tail.records = slices.Clone(s.tail.records) // else the array keeps what was dropped
		s.tail.aged, s.tail.old = s.appended, s.tail.from+uint64(len(s.tail.records))
	}
	for l.bytes > l.opts.TotalBytes {
		l.forget(l.tails.Back().Value.(*sessionState).session)
	}
}

// forget drops the session's tail.
func (l *Log) forget(session string) {
	s, ok := l.sessions[session]
	if !ok || s.inTails == nil {
		return
	}
	l.bytes -= s.tail.bytes
	s.tail = tail{}
	l.tails.Remove(s.inTails)
	s.inTails = nil
	l.free(s)
}

// scheduleEviction makes sure that the sweeper comes by while there are tails.
func (l *Log) scheduleEviction() {
	switch {
	case l.tails.Len() == 0 || l.closed:
	case l.evictor == nil:
		l.evictor = time.AfterFunc(l.opts.Age, l.evictOld)
	case l.tails.Len() == 1:
		l.evictor.Reset(l.opts.Age)
	}
}

// evictOld drops the tails that nobody appended to for a while.
func (l *Log) evictOld() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.tails.Len() > 0 && !l.closed {
		oldest := l.tails.Back().Value.(*sessionState)
		if left := l.opts.Age - time.Since(oldest.appended); left > 0 {
			l.evictor.Reset(left)
			return
		}
		l.forget(oldest.session)
	}
}
