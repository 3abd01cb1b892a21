package sqllog

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// Turns implements eventlog.Store.
func (s *Store) Turns(ctx context.Context, id string, before uint64, limit int) (turns []eventlog.TurnMark, err error) {
	first := int64(math.MaxInt64)
	if before != 0 && before < math.MaxInt64 {
		first = int64(before)
	}
	if limit <= 0 {
		limit = math.MaxInt32
	}
	err = s.read(ctx, func(ctx context.Context) error {
		if turns = nil; !plain(id) {
			return nil
		}
		return eachRow(ctx, s.db.read, func(scan func(...any) error) error {
			var turn str
			var first, last, sum, end num
			if err := scan(&turn, &first, &last, &sum, &end); err != nil {
				return err
			}
			m := eventlog.TurnMark{Turn: string(turn), First: first.seq(), Last: last.seq()}
			if turnSum(id, m.Turn, m.First) != int64(sum) || last != 0 && turnSum(id, m.Turn, m.Last) != int64(end) {
				s.note(id, "the place of a turn")
				return nil
			}
			turns = append(turns, m)
			return nil
		}, `SELECT turn, first, last, sum, end_sum FROM turns WHERE session = $1 AND first < $2 ORDER BY first DESC LIMIT $3`, id, first, limit)
	})
	slices.Reverse(turns)
	return turns, err
}

// Messages implements eventlog.Store.
func (s *Store) Messages(ctx context.Context, id string) iter.Seq2[eventlog.MessageMark, error] {
	return func(yield func(eventlog.MessageMark, error) bool) {
		v, err := s.admitted(ctx, id, math.MaxInt64)
		after, to := v.deletedThrough, min(v.durable, v.last)
		for err == nil && after < to {
			marks, next, failed := s.markPage(ctx, id, after, to)
			for _, m := range marks {
				if !yield(m, nil) {
					return
				}
			}
			if err = failed; err == nil && next <= after {
				return
			}
			after = next
		}
		if err != nil {
			yield(eventlog.MessageMark{}, err)
		}
	}
}

// markPage reads the marks of some messages. An id that fits no column is in the body.
func (s *Store) markPage(ctx context.Context, id string, after, to uint64) (marks []eventlog.MessageMark, next uint64, err error) {
	err = s.read(ctx, func(ctx context.Context) error {
		marks, next = nil, after
		return eachRow(ctx, s.db.read, func(scan func(...any) error) error {
			var turn, kind str
			var seq, at, sum num
			var message, person, form opt
			var body []byte
			if err := scan(&seq, &turn, &kind, &message, &person, &at, &form, &sum, &body); err != nil {
				return err
			}
			next = max(next, seq.seq())
			whole := row{session: id, seq: seq.seq(), turn: string(turn), kind: string(kind), message: message.text, person: person.text, at: int64(at), id: form.text, body: body}
			m, ok := whole.mark()
			if whole.sumOfMark() != int64(sum) || !ok {
				s.note(id, fmt.Sprint("record ", seq))
				return nil
			}
			marks = append(marks, m)
			return nil
		}, `SELECT seq, turn, kind, message_id, person, at, id, mark_sum, CASE WHEN message_id = '' THEN body END
			FROM records WHERE session = $1 AND seq > $2 AND seq <= $3 AND message_id IS NOT NULL ORDER BY seq LIMIT $4`, id, after, to, fullPage)
	})
	return marks, next, err
}

// mark is the mark of a row, whose ids may be in the body.
func (r row) mark() (m eventlog.MessageMark, ok bool) {
	if r.message != nil && *r.message != "" && r.person != nil {
		return eventlog.MessageMark{Kind: trace.Kind(r.kind), Seq: r.seq, Turn: r.turn, Message: *r.message, By: *r.person}, true
	}
	said, err := r.record()
	if err != nil {
		return m, false
	}
	return eventlog.MarkOf(said)
}
