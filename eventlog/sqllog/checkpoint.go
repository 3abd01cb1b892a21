package sqllog

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file keeps the texts of open parts, which a crash must not take: a checkpoint has what they grew by since the one
// before. The commit that ends a part does not wait for the removal of its checkpoints, which comes with the next ones:
// the durable record says that the part has ended.

// A checkpoint is at most checkpointAge old, and busyAge while many sessions are in use.
const (
	checkpointAge = 150 * time.Millisecond
	busyAge       = 900 * time.Millisecond
	manySessions  = 1000
)

const endPart = `DELETE FROM checkpoints WHERE session = $1 AND turn = $2 AND part = $3`

// checkpoint is a row of the table: one record for all that a part grew by behind a number, or the newest output.
type checkpoint struct {
	session string
	key     partKey
	after   int64 // that number; 0 of an output, which replaces the one before
	seq     uint64
	body    []byte
}

func checkpointOf(r trace.Record, after uint64) (checkpoint, error) {
	name, does, _ := effectOf(r.Payload)
	if does == replaces {
		after = 0
	}
	body, err := r.AppendJSON(nil)
	return checkpoint{session: r.Session, key: partKey{r.Turn, name}, after: int64(after), seq: r.Seq, body: body}, err //nolint:gosec // no session has 2^63 records
}

// checkpointsOf makes the rows for records of open parts behind a number. A record that has no JSON is left out.
func (s *Store) checkpointsOf(records []trace.Record, after uint64) (rows []checkpoint) {
	for _, r := range joinParts(records) {
		c, err := checkpointOf(r, after)
		if err != nil {
			s.opts.Logger.Warn("a record of a part that is still growing is not checkpointed", "session", r.Session, "error", err)
			return s.checkpointsOf(slices.DeleteFunc(records, func(r trace.Record) bool { _, err := checkpointOf(r, 0); return err != nil }), after)
		}
		rows = append(rows, c)
	}
	return rows
}

// checkpointSoon sees to it that what a session has unsaved is checkpointed. The caller holds the session's lock.
func (s *Store) checkpointSoon(se *session) {
	if !se.live.unsaved() || se.live.writing || s.awaited.Swap(true) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	age := checkpointAge
	if len(s.sessions) > manySessions {
		age = busyAge
	}
	if !s.isClosed() { // else Close looks itself
		s.checkpointer = time.AfterFunc(age, s.checkpoint)
	}
}

// checkpoint gives the writer what the open parts have grown by.
func (s *Store) checkpoint() {
	s.checkpointing.Lock()
	defer s.checkpointing.Unlock()
	s.awaited.Store(false)
	closed := s.isClosed() // nothing comes after what the writer has
	for _, se := range s.all() {
		se.mu.Lock()
		if se.live.unsaved() && (closed || !se.live.writing) {
			s.keepParts(se)
		}
		se.mu.Unlock()
	}
}

// keepParts gives the writer checkpoints of a session. What fails comes again with the next ones, behind the same
// number: the database may have it. The caller holds the session's lock.
func (s *Store) keepParts(se *session) {
	live := &se.live
	after, over := live.checkpointed, live.over
	o := &op{se: se, began: time.Now(), lazy: true, do: func(ctx context.Context, tx *sql.Tx) error {
		for _, key := range over {
			if _, err := s.db.exec(ctx, tx, endPart, se.id, key.turn, key.name); err != nil {
				return err
			}
		}
		return nil
	}}
	live.checkpointed, live.over, live.writing = se.visible(), nil, true
	o.checkpoints = s.checkpointsOf(live.open(se.id, after, live.checkpointed), after)
	o.after = func(err error) {
		if live.writing = false; err != nil {
			live.checkpointed, live.over = after, append(over, live.over...)
		}
		s.checkpointSoon(se)
	}
	s.enqueue(o)
}

// checkpoints reads the records that the log has of the session's parts, also of those that have ended.
func (s *Store) checkpoints(ctx context.Context, id string) (all []trace.Record, err error) {
	err = eachRow(ctx, s.db.read, func(scan func(...any) error) error {
		var turn, part, body str
		var after, seq, sum num
		if err := scan(&turn, &part, &after, &seq, &body, &sum); err != nil {
			return err
		}
		var r trace.Record
		c := checkpoint{session: id, key: partKey{string(turn), string(part)}, after: int64(after), seq: seq.seq(), body: []byte(body)}
		if c.sum() == int64(sum) && r.UnmarshalJSON(c.body) == nil {
			all = append(all, r)
		} else {
			s.note(id, "the text of a part that was being written")
		}
		return nil
	}, `SELECT turn, part, chunk, seq, body, sum FROM checkpoints WHERE session = $1 ORDER BY seq`, id)
	return all, err
}

// openParts joins what checkpoints have of the parts that have not ended: a record for each, in order. over are the others.
func (s *Store) openParts(ctx context.Context, now standing, id string, rows []trace.Record) (open []trace.Record, over []partKey, err error) {
	if len(rows) == 0 {
		return nil, nil, nil
	}
	ended := map[partKey]uint64{} // without a name: the turn
	for r, err := range s.pages(ctx, id, rows[0].Seq, math.MaxInt64) {
		if err != nil {
			return nil, nil, err
		}
		if name, does, _ := effectOf(r.Payload); does == ends {
			ended[partKey{r.Turn, name}] = r.Seq
		}
		if _, stop := r.Payload.(trace.Stop); stop {
			ended[partKey{r.Turn, ""}] = r.Seq
		}
	}
	for _, r := range rows {
		name, _, _ := effectOf(r.Payload)
		if key := (partKey{r.Turn, name}); r.Seq < max(ended[key], ended[partKey{r.Turn, ""}], now.deletedThrough+1) {
			over = append(over, key)
		} else {
			open = append(open, r)
		}
	}
	return joinParts(open), over, nil
}

// joinParts makes one record of the deltas of each part, in order. Of outputs that replace each other the newest is left.
func joinParts(records []trace.Record) (joined []trace.Record) {
	places := map[partKey]int{} // in joined
	var texts [][]byte          // of joined
	for _, r := range records {
		name, _, text := effectOf(r.Payload)
		i, known := places[partKey{r.Turn, name}]
		if !known {
			i = len(joined)
			places[partKey{r.Turn, name}] = i
			joined, texts = append(joined, r), append(texts, nil)
		}
		joined[i], texts[i] = r, append(texts[i], text...)
	}
	for i := range joined {
		joined[i].Payload = trace.WithDelta(joined[i].Payload, string(texts[i]))
	}
	slices.SortFunc(joined, func(a, b trace.Record) int { return cmp.Compare(a.Seq, b.Seq) })
	return joined
}
