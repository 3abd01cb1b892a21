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
	done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if !plain(id) {
		return nil, nil
	}
	first := int64(math.MaxInt64)
	if before != 0 && before < math.MaxInt64 {
		first = int64(before)
	}
	if limit <= 0 {
		limit = math.MaxInt32
	}
	err = s.reading(ctx, func(ctx context.Context) error {
		turns = nil
		rows, err := s.db.read.QueryContext(ctx, `SELECT turn, first, last FROM turns WHERE session = $1 AND first < $2 ORDER BY first DESC LIMIT $3`, id, first, limit)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Err says what matters
		for rows.Next() {
			var m eventlog.TurnMark
			if err := rows.Scan(&m.Turn, &m.First, &m.Last); err != nil {
				return err
			}
			turns = append(turns, m)
		}
		return rows.Err()
	})
	slices.Reverse(turns)
	return turns, err
}

// Messages implements eventlog.Store.
func (s *Store) Messages(ctx context.Context, id string) iter.Seq2[eventlog.MessageMark, error] {
	return func(yield func(eventlog.MessageMark, error) bool) {
		v, err := s.admitted(ctx, id, math.MaxInt64)
		after, to := v.erased, min(v.durable, v.shown)
		for err == nil && after < to {
			var marks []eventlog.MessageMark
			if marks, err = s.markPage(ctx, id, after, to); err == nil && len(marks) == 0 {
				return
			}
			for _, m := range marks {
				if !yield(m, nil) {
					return
				}
				after = m.Seq
			}
		}
		if err != nil {
			yield(eventlog.MessageMark{}, err)
		}
	}
}

// markPage reads the marks of some messages. An id that fits no column is in the body.
func (s *Store) markPage(ctx context.Context, id string, after, to uint64) (marks []eventlog.MessageMark, err error) {
	done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	err = s.reading(ctx, func(ctx context.Context) error {
		marks = nil
		rows, err := s.db.read.QueryContext(ctx, `SELECT seq, turn, kind, COALESCE(message_id, ''), COALESCE(person, ''), CASE WHEN message_id IS NULL THEN body END
			FROM records WHERE session = $1 AND seq > $2 AND seq <= $3 AND kind IN ('prompt', 'reply', 'rewind') ORDER BY seq LIMIT $4`, id, after, to, fullPage)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Err says what matters
		for rows.Next() {
			var m eventlog.MessageMark
			var body []byte
			if err := rows.Scan(&m.Seq, &m.Turn, &m.Kind, &m.Message, &m.By, &body); err != nil {
				return err
			}
			if body != nil {
				var r trace.Record
				if err := r.UnmarshalJSON(body); err != nil {
					return fmt.Errorf("record %d of session %q: %w", m.Seq, id, err)
				}
				m, _ = eventlog.MarkOf(r)
			}
			marks = append(marks, m)
		}
		return rows.Err()
	})
	return marks, err
}
