package sqllog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// row is a durable record as the database keeps it.
type row struct {
	session, turn, kind string
	seq                 uint64
	message, person     *string
	at                  int64
	body                []byte
}

// Append implements eventlog.Store.
func (s *Store) Append(ctx context.Context, id, turn string, events []trace.Event) (uint64, error) {
	if len(events) == 0 {
		return s.Last(ctx, id)
	}
	done, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	for {
		se, err := s.enter(ctx, id)
		if err != nil {
			return 0, err
		}
		last, err := s.appendTo(se, turn, events)
		s.leave(se)
		if !errors.Is(err, errMoved) {
			return last, err
		}
	}
}

// appendTo appends to a session that was entered. From here on ctx cuts nothing
// short: the caller would not know what is on record.
func (s *Store) appendTo(se *session, turn string, events []trace.Event) (uint64, error) {
	o, err := s.number(se, turn, events)
	if err != nil {
		return 0, err
	}
	if o.done != nil {
		<-o.done
	}
	return o.last, o.err
}

// number gives the events their numbers. Ephemeral ones that nothing keeps back
// are visible then. The others go to the writer, who closes op.done.
func (s *Store) number(se *session, turn string, events []trace.Event) (*op, error) {
	se.order.Lock()
	defer se.order.Unlock()
	se.mu.Lock()
	_, fenced := se.fenced[turn]
	lost, next := se.lost, se.last+1
	se.mu.Unlock()
	switch {
	case lost:
		return nil, errMoved
	case fenced && turn != "":
		return nil, fmt.Errorf("session %q: %w", se.id, eventlog.ErrNotOwner)
	}
	o := &op{se: se, turn: turn, began: time.Now(), first: next, last: next + uint64(len(events)) - 1}
	o.records = make([]trace.Record, len(events))
	for i, e := range events {
		e.Time = e.Time.Round(0).UTC()
		r := trace.Record{Session: se.id, Turn: turn, Seq: next + uint64(i), Event: e}
		o.records[i] = r
		if trace.Ephemeral(e.Payload) {
			continue
		}
		row, err := encode(r)
		if err != nil {
			return nil, err
		}
		o.rows = append(o.rows, row)
	}
	se.mu.Lock()
	se.last = o.last
	if o.rows == nil && !se.held() && se.term != 0 {
		o.show(s)
		se.mu.Unlock()
		return o, nil
	}
	o.plan()
	s.enqueue(o)
	se.mu.Unlock()
	return o, nil
}

// encode makes the row of a durable record.
func encode(r trace.Record) (row, error) {
	body, err := r.AppendJSON(nil)
	if err != nil {
		return row{}, err
	}
	made := row{session: r.Session, turn: r.Turn, kind: string(r.Payload.Kind()), seq: r.Seq, at: r.Time.UnixMilli(), body: body}
	if m, ok := eventlog.MarkOf(r); ok && plain(m.Message) && plain(m.By) {
		made.message, made.person = &m.Message, &m.By
	}
	return made, nil
}

// plain reports whether a column of every database takes the text. Others are
// read from the body.
func plain(text string) bool {
	const longest = 1000
	return len(text) <= longest && utf8.ValidString(text) && !strings.Contains(text, "\x00")
}
