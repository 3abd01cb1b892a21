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

	grown        uint64    // the newest record of a part
	checkpointed uint64    // checkpoints have the texts of open parts up to here, once the writer has written them
	over         []partKey // parts that have ended, and may have checkpoints
	writing      bool      // the writer has checkpoints: the next ones wait, so that a slow database does not have a text twice

	bytes  int // of all records
	folded int // of the folded texts
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
	name, does, _ := effectOf(r.Payload)
	if does == none {
		return
	}
	key := partKey{r.Turn, name}
	p := l.parts[key]
	if p == nil {
		p = &part{first: r.Seq}
		if l.parts == nil {
			l.parts = map[partKey]*part{}
		}
		l.parts[key] = p
	}
	p.event, l.grown = r.Event, r.Seq
	p.event.Payload = trace.WithDelta(r.Payload, "")
}

// endPart forgets a part that has ended.
func (l *liveBuffer) endPart(key partKey) {
	if p := l.parts[key]; p != nil {
		l.folded -= p.size()
		delete(l.parts, key)
		if p.first <= l.checkpointed {
			l.over = append(l.over, key)
		}
	}
}

// endTurn forgets the parts of a turn that has ended, and later its records.
func (l *liveBuffer) endTurn(turn string, now time.Time) {
	for key := range l.parts {
		if key.turn == turn {
			l.endPart(key)
		}
	}
	l.end(turn, now)
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

// unsaved reports whether there is text that no checkpoint has, or a checkpoint that nobody needs.
func (l *liveBuffer) unsaved() bool {
	return len(l.over) > 0 || len(l.parts) > 0 && l.grown > l.checkpointed
}

// open lists the records of open parts with a number greater than after, up to until.
func (l *liveBuffer) open(session string, after, until uint64) (open []trace.Record) {
	for _, r := range l.after(session, after, until) {
		name, _, _ := effectOf(r.Payload)
		if p := l.parts[partKey{r.Turn, name}]; p != nil && r.Seq >= p.first {
			open = append(open, r)
		}
	}
	return open
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
// enough, the older half of the ephemeral ones becomes one delta per open part, or its newest output. Those of ended
// parts go. The texts of open parts count and stay, so with long ones few records are beside them.
func (l *liveBuffer) shrink(limit int) {
	limit = max(limit-l.folded, min(limit, smallLive))
	if l.bytes > limit && len(l.recent) > 0 {
		l.forget(l.recent[len(l.recent)-1].Seq)
	}
	if l.bytes <= limit {
		return
	}
	half := 0
	for ; half < len(l.records) && l.bytes > limit/2; half++ {
		r := l.records[half]
		l.bytes -= trace.ApproxSize(r.Payload)
		name, does, text := effectOf(r.Payload)
		if p := l.parts[partKey{r.Turn, name}]; p != nil {
			l.folded -= p.size()
			p.fold(r, does, text)
			l.folded += p.size()
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
	l.records = slices.DeleteFunc(slices.Clone(l.records), func(r trace.Record) bool {
		if gone[r.Turn] {
			l.bytes -= trace.ApproxSize(r.Payload)
		}
		return gone[r.Turn]
	})
}
