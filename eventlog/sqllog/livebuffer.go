package sqllog

import (
	"cmp"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// liveBuffer holds the ephemeral records of one session that memory alone has: those of
// open turns, and those of a turn that has just ended. The session's lock guards it.
type liveBuffer struct {
	records []trace.Record // in order; readers share the array
	bytes   int
	parts   map[partKey]*part
	ended   map[string]time.Time // turns whose records go soon
}

// add takes a visible ephemeral record.
func (l *liveBuffer) add(r trace.Record, now time.Time) {
	l.records = append(l.records, r)
	l.bytes += trace.ApproxSize(r.Payload)
	if r.Turn == "" {
		l.end("", now)
		return
	}
	name, does, text := effectOf(r.Payload)
	if does == none {
		return
	}
	key := partKey{r.Turn, name}
	p := l.parts[key]
	if p == nil {
		p = &part{}
		if l.parts == nil {
			l.parts = map[partKey]*part{}
		}
		l.parts[key] = p
	}
	p.grow(r, does, text)
}

// restore takes a checkpoint that an earlier process left.
func (l *liveBuffer) restore(c checkpoint, r trace.Record) {
	l.records = append(l.records, r)
	l.bytes += trace.ApproxSize(r.Payload)
	if l.parts == nil {
		l.parts = map[partKey]*part{}
	}
	p := l.parts[c.key]
	if p == nil {
		p = &part{saved: true}
		l.parts[c.key] = p
	}
	p.event, p.seq = r.Event, r.Seq
	p.event.Payload = withText(r.Payload, "")
	p.chunk = max(p.chunk, c.chunk+1) // what comes is a chunk of its own
}

// end marks a turn's records as no longer needed.
func (l *liveBuffer) end(turn string, now time.Time) {
	if l.ended == nil {
		l.ended = map[string]time.Time{}
	}
	if _, known := l.ended[turn]; !known {
		l.ended[turn] = now
	}
}

// dirty reports whether there is text that no checkpoint has.
func (l *liveBuffer) dirty() bool {
	for _, p := range l.parts {
		if p.dirty && !p.ending {
			return true
		}
	}
	return false
}

// after lists the records with a number greater than after, up to until.
func (l *liveBuffer) after(session string, after, until uint64) []trace.Record {
	from, _ := slices.BinarySearchFunc(l.records, after+1, func(r trace.Record, seq uint64) int { return cmp.Compare(r.Seq, seq) })
	to, _ := slices.BinarySearchFunc(l.records, until+1, func(r trace.Record, seq uint64) int { return cmp.Compare(r.Seq, seq) })
	records := l.records[min(from, to):to:to]
	var folded []trace.Record
	for key, p := range l.parts {
		if r, ok := p.unfold(session, key, after); ok {
			folded = append(folded, r)
		}
	}
	if folded == nil {
		return records
	}
	folded = append(folded, records...)
	slices.SortStableFunc(folded, func(a, b trace.Record) int { return cmp.Compare(a.Seq, b.Seq) })
	return folded
}

// shrink makes the buffer smaller than the limit: the older half becomes one delta
// per open part. What has ended, and what was replaced, goes.
func (l *liveBuffer) shrink(limit int) {
	if l.bytes <= limit {
		return
	}
	half := 0
	for n := 0; half < len(l.records) && n < l.bytes/2; half++ {
		n += trace.ApproxSize(l.records[half].Payload)
	}
	for _, r := range l.records[:half] {
		l.bytes -= trace.ApproxSize(r.Payload)
		name, does, text := effectOf(r.Payload)
		if p := l.parts[partKey{r.Turn, name}]; p != nil && does == grows {
			p.fold(r.Seq, text)
		}
	}
	l.records = slices.Clone(l.records[half:])
}

// drop forgets the records of turns that ended before a moment.
func (l *liveBuffer) drop(before time.Time) {
	gone := map[string]bool{}
	for turn, at := range l.ended {
		if at.Before(before) {
			gone[turn] = true
			delete(l.ended, turn)
		}
	}
	if len(gone) == 0 {
		return
	}
	kept := make([]trace.Record, 0, len(l.records))
	l.bytes = 0
	for _, r := range l.records {
		if !gone[r.Turn] {
			kept = append(kept, r)
			l.bytes += trace.ApproxSize(r.Payload)
		}
	}
	l.records = kept
}
