package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/tributary-dev/tributary/trace"
)

// Events yields what happens to a session, until it is deleted. With a mark it
// begins with what came after that; without one, or where the mark leads nowhere,
// with how the session stands now. All events come from the session's records after
// a number, so that no event is sent twice and none is missed.
func (h *Hub) Events(ctx context.Context, session string, mark *uint64) (iter.Seq2[Event, error], error) {
	_, release, err := h.session(ctx, session)
	if err != nil {
		return nil, err
	}
	release()
	return func(yield func(Event, error) bool) {
		l, release, err := h.session(ctx, session)
		if errors.Is(err, ErrUnknownSession) { // just now
			yield(Event{Type: EventDeleted}, nil)
			return
		}
		if err == nil {
			defer release()
			err = l.tell(ctx, mark, yield)
		}
		if err != nil && ctx.Err() == nil {
			yield(Event{}, err)
		}
	}, nil
}

// tell yields events until the session is deleted or ctx ends.
func (l *activeSession) tell(ctx context.Context, mark *uint64, yield func(Event, error) bool) error {
	ctx, cancel := l.during(ctx)
	defer cancel()
	var d eventProjector
	at, first, err := l.catchUp(ctx, &d, mark)
	if err != nil {
		return err
	}
	title := first.Title
	if first.Type != "" && !yield(first, nil) {
		return nil
	}
	for r, err := range l.hub.Log.FollowDurable(ctx, l.id, at) {
		if err != nil {
			return fmt.Errorf("read the log of session %q: %w", l.id, err)
		}
		at = r.Seq
		e, told := d.observe(r)
		now := l.entitled(r)
		e.More = now != "" && now != title
		if told && !yield(e, nil) {
			return nil
		}
		if e.More && !yield(Event{Seq: at, Type: EventTitle, Title: now}, nil) {
			return nil
		}
		title = cmp.Or(now, title)
	}
	l.mu.Lock()
	deleted := l.deleted
	l.mu.Unlock()
	if deleted && l.life.Err() != nil {
		yield(Event{Seq: at, Type: EventDeleted}, nil)
	}
	return nil
}

// catchUp brings the eventProjector to the mark, or to now if there is none or none that
// can be gone on from; then it also returns how the session stands.
func (l *activeSession) catchUp(ctx context.Context, d *eventProjector, mark *uint64) (at uint64, stands Event, err error) {
	at, err = l.hub.Log.Last(ctx, l.id) // before the turns are looked at: who begins later is told by its records
	if err != nil {
		return 0, Event{}, fmt.Errorf("read the log of session %q: %w", l.id, err)
	}
	l.mu.Lock()
	known := mark != nil && *mark <= at && *mark >= l.info.Since
	from, title := at, l.info.Title
	for _, t := range l.info.Open {
		from = min(from, t.After)
	}
	l.mu.Unlock()
	if known {
		at = *mark
		if from, err = l.openAt(ctx, at); err != nil {
			return 0, Event{}, err
		}
	}
	if from < at {
		for r, err := range l.hub.Log.Durable(ctx, l.id, from, at) {
			if err != nil {
				return 0, Event{}, fmt.Errorf("read the log of session %q: %w", l.id, err)
			}
			d.observe(r)
		}
	}
	if known {
		return at, Event{}, nil
	}
	return at, Event{Seq: at, Type: EventSession, Title: title, Turns: d.status(), Reset: mark != nil}, nil
}

// openAt is a number before the first record of all turns that were not over at
// the mark. More than a full queue and a few that the agent began are not looked for.
func (l *activeSession) openAt(ctx context.Context, mark uint64) (uint64, error) {
	const begun = 32
	turns, err := l.hub.Log.Turns(ctx, l.id, mark+1, l.hub.MaxQueue+begun)
	if err != nil {
		return 0, fmt.Errorf("read the log of session %q: %w", l.id, err)
	}
	from := mark
	for _, t := range turns {
		if t.Last == 0 || t.Last > mark {
			from = min(from, t.First-1)
		}
	}
	return from, nil
}

// entitled is the session's title if it has that by the record: the words of its
// first prompt, or what the agent calls it.
func (l *activeSession) entitled(r trace.Record) string {
	l.mu.Lock()
	now := l.info.Title
	l.mu.Unlock()
	prompt, isPrompt := r.Payload.(trace.Prompt)
	data, isData := r.Payload.(trace.Data)
	if isPrompt && titled(prompt.Message) == now || isData && data.Name == "title" {
		return now
	}
	return ""
}
