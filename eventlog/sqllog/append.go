package sqllog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// Append implements eventlog.Store.
func (s *Store) Append(ctx context.Context, id, turn string, events []trace.Event) (uint64, error) {
	if len(events) == 0 {
		return s.Last(ctx, id)
	}
	return s.change(ctx, id, func(se *session) *op { return &op{se: se, turn: turn} }, events...)
}

// change has the writer change a session: what it does, and events of op's turn.
func (s *Store) change(ctx context.Context, id string, what func(*session) *op, events ...trace.Event) (uint64, error) {
	done, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	for {
		se, err := s.pin(ctx, id)
		if err != nil {
			return 0, err
		}
		// From here on ctx cuts nothing short: the caller would not know what is on record.
		o := what(se)
		err = s.number(o, events)
		if err == nil && o.done != nil {
			<-o.done
			err = o.err
			s.indexSoon(id)
		}
		s.unpin(se)
		if !errors.Is(err, errMoved) {
			return o.last, err
		}
	}
}

// number gives the events of an op their numbers. Ephemeral ones that nothing keeps
// back are visible then, unless another gateway may have the session. Everything else goes to the writer, who closes op.done.
func (s *Store) number(o *op, events []trace.Event) error {
	se := o.se
	se.order.Lock()
	defer se.order.Unlock()
	se.mu.Lock()
	_, fenced := se.fenced[o.turn]
	lost, next, term := se.lost, se.last+1, cmp.Or(se.term, se.seen+1)
	se.mu.Unlock()
	switch {
	case lost:
		return errMoved
	case fenced && o.turn != "", o.under != 0 && o.under != term:
		return fmt.Errorf("session %q: %w", se.id, eventlog.ErrNotOwner)
	}
	o.began, o.last = time.Now(), next+uint64(len(events))-1
	if len(events) > 0 {
		o.first = next
	}
	o.records = make([]trace.Record, len(events))
	for i, e := range events {
		e.Time = e.Time.Round(0).UTC()
		r := trace.Record{Session: se.id, Turn: o.turn, Seq: next + uint64(i), Event: e}
		o.records[i] = r
		if trace.Ephemeral(e.Payload) {
			continue
		}
		row, err := encode(r)
		if err != nil {
			return err
		}
		o.rows = append(o.rows, row)
	}
	se.mu.Lock()
	se.last = o.last
	defer se.mu.Unlock()
	if !o.durable() && se.visible() == se.last && se.term != 0 && s.isSure() {
		o.show(s)
		return nil
	}
	o.plan()
	s.enqueue(o)
	return nil
}
