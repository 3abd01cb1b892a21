package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// This file writes the records and the document of a session.

// save writes the registry document as it now stands.
func (l *activeSession) save(ctx context.Context) error {
	l.mu.Lock()
	l.changes++
	l.mu.Unlock()
	return l.flush(ctx)
}

// keep writes the registry document as change makes it, together with notes.
func (l *activeSession) keep(ctx context.Context, notes []trace.Event, change func(*Info)) error {
	if len(notes) > 0 {
		if _, err := l.newest(ctx); err != nil {
			return err
		}
	}
	if err := l.hub.health.write(l.hub.Now, func() error { return l.write(ctx, "", notes, change) }); err != nil {
		return fmt.Errorf("keep session %q: %w", l.id, err)
	}
	return nil
}

// flush writes the registry document unless it is on record.
func (l *activeSession) flush(ctx context.Context) error {
	if err := l.write(ctx, "", nil, nil); err != nil {
		return fmt.Errorf("keep session %q: %w", l.id, err)
	}
	return nil
}

// saveLater saves after something that cannot be undone; a failure is logged,
// since the next save writes the same again.
//
//nolint:contextcheck // it has to happen also if whoever was the cause has left
func (l *activeSession) saveLater() {
	// Close waits for what runs, so this gets through even as the hub's life ends.
	if err := l.save(context.WithoutCancel(l.hub.ctx)); err != nil && !errors.Is(err, eventlog.ErrNotOwner) { // else the owner's document counts
		l.hub.Logger.Error("session document not written", "session", l.id, "error", err)
		l.hub.board.changed(l) // else the write does it
	}
}

// append puts events on record and takes them over into the projection. The document in the
// commit of a stop has what ends does to it.
func (l *activeSession) append(ctx context.Context, turn string, events []trace.Event, ends func(*Info)) error {
	if _, err := l.newest(ctx); err != nil {
		return err
	}
	if _, is := stopOf(events); !is {
		ends = nil
	}
	if err := l.hub.health.write(l.hub.Now, func() error { return l.write(ctx, turn, events, ends) }); err != nil {
		return fmt.Errorf("write to the log of session %q: %w", l.id, err)
	}
	return nil
}

// write makes one commit of durable events and the document, if that has changed. So a
// session or a turn is known as soon as it has records. Documents need no order of their
// writes: the store keeps the newest.
func (l *activeSession) write(ctx context.Context, turn string, events []trace.Event, ends func(*Info)) error {
	durable := slices.ContainsFunc(events, func(e trace.Event) bool { return !trace.Ephemeral(e.Payload) })
	l.mu.Lock()
	changes := l.changes
	put := (durable || len(events) == 0) && (changes != l.kept || ends != nil) && !l.deleted && !l.evicted
	if !put && len(events) == 0 {
		l.mu.Unlock()
		return nil
	}
	var entry eventlog.Entry
	var ended *TurnRef // the last turn, as this commit has it
	var err error
	if put && l.standing.elsewhere {
		l.disown()
		l.mu.Unlock()
		return fmt.Errorf("session %q: %w", l.id, eventlog.ErrNotOwner)
	}
	if put {
		l.info.UpdatedAt = l.hub.nextStamp(l.info.UpdatedAt)
		info := l.info
		if ends != nil {
			ends(&info)
			ended = info.Last
		}
		entry, err = info.entry()
		entry.Term = l.standing.term
	}
	l.writes.Begin()
	l.mu.Unlock()

	var last uint64
	switch {
	case err != nil:
	case put:
		last, err = l.hub.Log.AppendWith(ctx, entry, turn, events)
	default:
		last, err = l.hub.Log.Append(ctx, l.id, turn, events)
	}

	if put && err == nil {
		defer l.hub.board.changed(l)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.endWrite()
	if err != nil {
		l.thread.Forget(turn) // some of the events may be on record
		if errors.Is(err, eventlog.ErrNotOwner) {
			l.disown()
		}
		return err
	}
	l.newestSeq = max(l.newestSeq, last)
	for i, e := range events {
		seq := last - uint64(len(events)-1-i) //nolint:gosec // a place in a list
		l.thread.Take(turn, seq, e.Payload)
		l.tookAgent(seq, e.Payload)
	}
	if !put {
		return nil
	}
	l.kept = max(l.kept, changes)
	l.standing.taken = l.standing.taken || entry.Term != 0 && entry.Term == l.standing.term
	if ends != nil {
		ends(&l.info)
		meanwhile := ended != nil && *l.info.Last != *ended      // a stream of it was cut
		if meanwhile || !l.info.UpdatedAt.Equal(entry.Updated) { // a newer document lacks this
			l.changes++
		}
	}
	return nil
}

// stopOf returns the stop with which the events end a turn, if they do.
func stopOf(events []trace.Event) (stop trace.Stop, is bool) {
	if len(events) > 0 {
		stop, is = events[len(events)-1].Payload.(trace.Stop)
	}
	return stop, is
}

// endWrite notes that a write is over. The caller holds l.mu.
func (l *activeSession) endWrite() {
	if l.writes.End(); l.writes.None() {
		l.folded = l.newestSeq
	}
}

// position is a number up to which the projection has all records.
func (l *activeSession) position(ctx context.Context) (uint64, error) {
	if _, err := l.newest(ctx); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.folded, nil
}

// newest is the number of the newest record that this process knows. Records that are
// appended from now on have greater numbers.
func (l *activeSession) newest(ctx context.Context) (uint64, error) {
	l.mu.Lock()
	seq, known := l.newestSeq, l.seqKnown
	l.mu.Unlock()
	if known {
		return seq, nil
	}
	last, err := l.hub.Log.Last(ctx, l.id)
	if err != nil {
		return 0, l.notRead(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.seqKnown { // nothing is written before
		l.newestSeq, l.folded, l.seqKnown = last, last, true
	}
	return l.newestSeq, nil
}

// titleData is the name of the data that says a session's title.
const titleData = "title"

// note records what happens outside any turn.
func (l *activeSession) note(p trace.Payload) {
	if !l.mayNote(p) {
		return
	}
	if d, ok := p.(trace.Data); ok {
		if learned, is := d.Agent(); is {
			l.noteAgent(trace.Agent, learned)
			return
		}
		if _, is := d.Score(); is { // an agent does not judge its own work
			d.Name = trace.AgentDataName(d.Name)
			p = d
		}
		l.offered(d)
		if d.Name == titleData {
			l.retitle(d.Value)
		}
	}
	events := l.noteOf(trace.Agent, p)
	l.mu.Lock()
	opening := l.slot.state == agentOpening
	if opening {
		l.opening.events = append(l.opening.events, events...)
	}
	l.mu.Unlock()
	if opening {
		return
	}
	if err := l.append(l.hub.ctx, "", events, nil); err != nil && !errors.Is(err, eventlog.ErrNotOwner) {
		l.hub.Logger.Error("note not recorded", "session", l.id, "kind", p.Kind(), "error", err)
	}
}

func (l *activeSession) noteOf(by trace.Actor, p trace.Payload) []trace.Event {
	return []trace.Event{{ID: "note." + newID(l.hub.Now()), Time: l.hub.Now(), Actor: by, Payload: p}}
}

// retitled is the data that says a session's new title.
func retitled(title string) trace.Data {
	value, _ := json.Marshal(title) // a string is always JSON
	return trace.Data{Name: titleData, Value: value}
}

func (l *activeSession) retitle(value json.RawMessage) {
	var text string
	if json.Unmarshal(value, &text) != nil || text == "" {
		return
	}
	l.mu.Lock()
	l.info.Title = title(text)
	l.mu.Unlock()
	l.saveLater()
}
