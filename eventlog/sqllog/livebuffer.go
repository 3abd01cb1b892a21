package sqllog

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// liveBuffer holds the records of one session that are in memory. Memory alone has the
// ephemeral ones: those of open turns, and those of a turn that has just ended. The newest
// durable records are here too, so that readers who follow the session need no database.
// The session's lock guards the buffer. Its readers share the arrays.
type liveBuffer struct {
	records []trace.Record // the ephemeral ones, in order
	parts   map[partKey]*part
	ended   map[string]time.Time // turns whose ephemeral records go soon

	recent []trace.Record // the visible durable records behind stored, in order
	stored uint64         // durable records up to here are read from the database
	aged   uint64         // the newest durable record at the last call of age

	bytes int // of all
}

// keep takes a visible durable record.
func (l *liveBuffer) keep(r trace.Record) {
	l.recent = append(l.recent, r)
	l.bytes += trace.ApproxSize(r.Payload)
}

// forget drops the durable records up to a number. The database has them.
func (l *liveBuffer) forget(upTo uint64) {
	n := countUpTo(l.recent, upTo)
	for _, r := range l.recent[:n] {
		l.bytes -= trace.ApproxSize(r.Payload)
	}
	l.recent, l.stored = slices.Clone(l.recent[n:]), max(l.stored, upTo)
}

// countUpTo is how many of the records, which are in order, have no number beyond seq.
func countUpTo(records []trace.Record, seq uint64) int {
	return sort.Search(len(records), func(i int) bool { return records[i].Seq > seq })
}

// age drops the durable records that were there at the last call, but for the open turns and what is behind their
// beginning: clients read a turn from its beginning for as long as it is open.
func (l *liveBuffer) age(open map[string]struct{}) {
	if len(l.recent) == 0 {
		return
	}
	begins := slices.IndexFunc(l.recent, func(r trace.Record) bool { _, is := open[r.Turn]; return is })
	if begins >= 0 {
		l.aged = min(l.aged, l.recent[begins].Seq-1)
	}
	newest := l.recent[len(l.recent)-1].Seq
	if l.aged > l.stored {
		l.forget(l.aged)
	}
	l.aged = newest
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
	p.event.Payload = trace.WithDelta(r.Payload, "")
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
		if p.dirty && !p.ending && !p.writing {
			return true
		}
	}
	return false
}

// after lists the ephemeral records with a number greater than after, up to until.
func (l *liveBuffer) after(session string, after, until uint64) []trace.Record {
	from, to := countUpTo(l.records, after), countUpTo(l.records, until)
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
	slices.SortStableFunc(folded, bySeq)
	return folded
}

func bySeq(a, b trace.Record) int { return cmp.Compare(a.Seq, b.Seq) }

// shrink makes the buffer smaller than the limit. First the durable records go. If that is not
// enough, the older half of the ephemeral ones becomes one delta per open part. Those of ended
// parts go, and those that were replaced.
func (l *liveBuffer) shrink(limit int) {
	if l.bytes > limit && len(l.recent) > 0 {
		l.forget(l.recent[len(l.recent)-1].Seq)
	}
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

// drop forgets the ephemeral records of turns that ended before a moment.
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
	for _, r := range l.records {
		if !gone[r.Turn] {
			kept = append(kept, r)
			continue
		}
		l.bytes -= trace.ApproxSize(r.Payload)
	}
	l.records = kept
}
