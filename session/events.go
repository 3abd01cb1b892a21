package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/tributary-dev/tributary/trace"
)

// This file streams the events of a session.

// Events yields what happens to a session, until it is deleted. With a mark it
// begins with what came after that; without one, or where the mark leads nowhere,
// with how the session stands now. All events come from the session's records after
// a number, so that no event is sent twice and none is missed.
func (h *Hub) Events(ctx context.Context, session string, mark *uint64) (iter.Seq2[Event, error], error) {
	if _, err := h.Get(ctx, session); err != nil {
		return nil, err
	}
	return func(yield func(Event, error) bool) {
		err := h.use(ctx, session, func(l *activeSession) error { return l.tell(ctx, mark, yield) })
		switch {
		case errors.Is(err, ErrUnknownSession): // just now
			yield(Event{Type: EventDeleted}, nil)
		case err != nil && ctx.Err() == nil:
			yield(Event{}, err)
		}
	}, nil
}

// tell yields events until the session is deleted or ctx ends.
func (l *activeSession) tell(ctx context.Context, mark *uint64, yield func(Event, error) bool) error {
	at, err := l.position(ctx)
	if err != nil {
		return err
	}
	from, known, title := at, false, ""
	if mark != nil {
		if known, err = l.marks(ctx, *mark, at); err != nil {
			return err
		}
	}
	if known {
		from, at = min(*mark, at), *mark
	}
	d, err := l.projectorAt(ctx, from)
	if err != nil {
		return err
	}
	changed := l.takeHeld(&d, at)
	if !known {
		changed, title = nil, l.view().Title
		if !yield(Event{Seq: at, Type: EventSession, Title: title, Turns: d.status(at), Reset: mark != nil}, nil) {
			return nil
		}
	}
	if !tellTurns(changed, at, yield) {
		return nil
	}
	for r, err := range l.records(ctx, Filter{After: from, Live: true}) {
		if err != nil {
			return err
		}
		e, told := d.observe(r)
		if r.Seq <= at {
			continue // the caller knows
		}
		at = r.Seq
		now := l.entitled(r)
		e.More = now != "" && now != title
		if told && !yield(e, nil) {
			return nil
		}
		if e.More && !yield(Event{Seq: at, Type: EventTitle, Title: now}, nil) {
			return nil
		}
		title = cmp.Or(now, title)
		if !tellTurns(l.takeHeld(&d, at), at, yield) {
			return nil
		}
	}
	l.mu.Lock()
	deleted := l.deleted
	l.mu.Unlock()
	if deleted && l.life.Err() != nil {
		yield(Event{Seq: at, Type: EventDeleted}, nil)
	}
	return nil
}

// takeHeld has a projector know which prompts are held now.
func (l *activeSession) takeHeld(d *eventProjector, at uint64) (changed []TurnStatus) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return d.hold(at, l.info.isHeld)
}

// tellTurns yields states of turns that no record tells.
func tellTurns(turns []TurnStatus, at uint64, yield func(Event, error) bool) bool {
	for _, s := range turns {
		if !yield(Event{Seq: at, Type: EventTurn, TurnStatus: s, More: true}, nil) {
			return false
		}
	}
	return true
}

// marks reports whether events can go on from a mark: a number that this life of the session
// has given. A record may be with a client just before the projection has it.
func (l *activeSession) marks(ctx context.Context, mark, at uint64) (bool, error) {
	since := l.document().Since
	if mark < since || mark <= at {
		return mark >= since, nil
	}
	last, err := l.hub.Log.Last(ctx, l.id)
	if err != nil {
		return false, l.notRead(err)
	}
	return mark <= last, nil
}

// projectorAt returns a projector that has seen the records up to a number. The store knows
// which turns were open there, and the projection how these stood. More than a full queue and
// a few that the agent began are not looked for.
func (l *activeSession) projectorAt(ctx context.Context, seq uint64) (d eventProjector, err error) {
	const begun = 32
	turns, err := l.hub.Log.Turns(ctx, l.id, seq+1, l.hub.MaxQueue+begun)
	if err != nil {
		return d, l.notRead(err)
	}
	for _, t := range turns {
		if t.Last != 0 && t.Last <= seq {
			continue
		}
		layout, err := l.layout(ctx, t.Turn, t.First-1)
		if err != nil {
			return d, err
		}
		d.open = append(d.open, openTurn{id: t.Turn, layout: layout})
	}
	return d, nil
}

// entitled is the session's title if it has that by the record: the words of its
// first prompt, or what the agent calls it.
func (l *activeSession) entitled(r trace.Record) string {
	now := l.document().Title
	prompt, isPrompt := r.Payload.(trace.Prompt)
	data, isData := r.Payload.(trace.Data)
	var text string
	switch {
	case isPrompt && titled(prompt.Message) == now:
		return now
	case isData && data.Name == titleData && json.Unmarshal(data.Value, &text) == nil:
		return title(text) // memory may have it a moment later
	}
	return ""
}
