package sqllog

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// op is what the writer does at once for one session: an append, a checkpoint, or a
// change of the registry.
type op struct {
	se    *session // nil: of no session, nothing is checked
	turn  string
	began time.Time
	under int64 // the term that the op is for; 0: any
	// tried: a transaction with it may have been committed although it failed.
	tried bool
	// committed: it was, and the server may have forgotten it.
	committed bool

	// Of an append: its records, and the durable ones as rows.
	first, last uint64
	records     []trace.Record
	rows        []row
	begins      uint64 // the turn begins with this record
	stops       uint64 // and ends with this one
	checkpoints []checkpoint
	// moves changes where the session stands, in the same transaction.
	moves func(*place)
	// do is anything else in it.
	do func(context.Context, *sql.Tx) error
	// lazy: nobody waits for the disk to have what do does.
	lazy bool
	// then is called when the op is committed, with the session's lock.
	then func()
	// after is called in any case, last.
	after func(error)

	err  error
	done chan struct{} // closed by the writer; nil if it never came to it
}

// durable reports whether somebody waits for the commit.
func (o *op) durable() bool { return o.rows != nil || o.do != nil && !o.lazy || o.moves != nil }

// synced reports whether somebody waits for the disk to have the commit.
func (o *op) synced() bool {
	return o.durable() && (o.do != nil || o.moves != nil || o.begins != 0 || slices.ContainsFunc(o.records, func(r trace.Record) bool { return isSynced(r.Payload) }))
}

// isSynced reports whether a record is on the disk before a client sees it. A power loss may take the others that no later
// record has followed: what only opens a step, a part or a call, and events of the agent's world.
func isSynced(p trace.Payload) bool {
	if d, is := p.(trace.Data); is && d.Domain {
		_, score := d.Score()
		return score
	}
	opens := []trace.Kind{trace.KindStep, trace.KindMessageStart, trace.KindThoughtStart, trace.KindToolCallStart}
	return !trace.Ephemeral(p) && !slices.Contains(opens, p.Kind())
}

// size is how many bytes of records the op writes.
func (o *op) size() (n int) {
	for _, r := range o.rows {
		n += len(r.body)
	}
	return n
}

// writes reports whether the op needs a transaction.
func (o *op) writes() bool {
	return o.durable() || o.do != nil || o.checkpoints != nil || o.se != nil && o.se.term == 0
}

// plan finds what an append means for turns. The caller holds the
// session's lock, as for show and complete.
func (o *op) plan() {
	if o.rows == nil || o.turn == "" {
		return
	}
	se := o.se
	if _, begun := se.turns[o.turn]; !begun {
		se.turns[o.turn] = struct{}{}
		o.begins = o.rows[0].seq
	}
	for _, r := range o.records {
		if _, stop := r.Payload.(trace.Stop); stop {
			o.stops = r.Seq
		}
	}
}

// show makes the records visible.
func (o *op) show(s *Store) {
	se, now := o.se, time.Now()
	limit := s.liveLimit()
	s.resize(se, func(live *liveBuffer) {
		for _, r := range o.records {
			if trace.Ephemeral(r.Payload) {
				live.add(r, now)
				continue
			}
			se.durable = r.Seq
			live.keep(r)
			if name, does, _ := effectOf(r.Payload); does == ends {
				live.endPart(partKey{o.turn, name})
			}
		}
		if o.stops != 0 {
			delete(se.turns, o.turn)
			live.endTurn(o.turn, now)
		}
		live.shrink(limit)
	})
	s.checkpointSoon(se)
}

// complete takes the outcome of an op: its records are visible, or it failed.
func (o *op) complete(s *Store, err error) {
	se := o.se
	if se != nil {
		se.mu.Lock()
		defer se.mu.Unlock()
		if i := slices.Index(se.flight, o); i >= 0 {
			se.flight = slices.Concat(se.flight[:i], se.flight[i+1:]) // an array of its own: the old one keeps the op
		}
		if err == nil {
			if se.term == 0 {
				se.term = se.seen + 1
			}
			if o.first != 0 {
				o.show(s)
			}
		} else {
			o.undo(s, err)
		}
	}
	if err == nil && o.then != nil {
		o.then()
	}
	if o.after != nil {
		o.after(err)
	}
	o.err = err
	close(o.done)
}

// undo removes the notes of plan on an append that failed. The database may have its records
// nevertheless.
func (o *op) undo(s *Store, err error) {
	se := o.se
	s.resize(se, func(live *liveBuffer) { live.forget(o.last) })
	if errors.Is(err, eventlog.ErrNotOwner) || errors.Is(err, errMoved) {
		s.lose(se, errors.Is(err, eventlog.ErrNotOwner))
	}
	if o.begins != 0 {
		delete(se.turns, o.turn)
	}
}
