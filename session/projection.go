package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/session/thread"
	"github.com/tributary-dev/tributary/trace"
)

// This file keeps the projection of a session.

// The projection of a session is its thread: see the package thread. These functions read
// from the log what the thread does not know yet.

// loadThread reads the session's messages from the log, unless they are known. If a turn
// changes the thread meanwhile, loadThread reads again.
func (l *activeSession) loadThread(ctx context.Context) error {
	for {
		l.mu.Lock()
		done, changes, open := l.threaded, l.thread.Changes, l.unrecorded()
		l.mu.Unlock()
		if done {
			return nil
		}
		var t thread.Thread
		for m, err := range l.hub.Log.Messages(ctx, l.id) {
			if err != nil {
				return l.notRead(err)
			}
			t.Observe(m.Kind, m.Turn, m.Message, m.By, m.Seq)
		}
		t.CatchUp(open)
		l.mu.Lock()
		if !l.threaded && l.thread.Changes == changes {
			t.Changes = changes
			t.Keep(&l.thread)
			l.thread, l.threaded = t, true
		}
		l.mu.Unlock()
	}
}

func (l *activeSession) notRead(err error) error {
	return fmt.Errorf("read the log of session %q: %w", l.id, err)
}

// unrecorded is what the turns that are open have done to the thread. The caller holds
// l.mu.
func (l *activeSession) unrecorded() (u thread.Unrecorded) {
	for _, m := range l.thread.Messages {
		if t := l.turns[m.Turn]; t != nil {
			u.Messages = append(u.Messages, m)
			if t.rewind.to != "" && m.User {
				u.Cuts = append(u.Cuts, thread.Cut{Turn: t.id, To: t.rewind.to})
			}
		}
	}
	return u
}

// layout returns the layout of a turn. The layout of a turn that is not open is read once.
func (l *activeSession) layout(ctx context.Context, turn string, after uint64) (thread.Layout, error) {
	l.mu.Lock()
	known, ok := l.thread.Layout(turn)
	l.mu.Unlock()
	if ok {
		return known, nil
	}
	var read thread.Layout
	for r, err := range l.records(ctx, Filter{Turn: turn, After: after}) {
		if err != nil {
			return read, err
		}
		read.Take(r.Seq, r.Payload)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.thread.Layout(turn); !known && (read.Finished || l.info.isHeld(turn)) {
		l.thread.SetLayout(turn, &read)
	}
	return read, nil
}

// atLastMessage makes a turn one that is read from the start of its last message to where
// it waits for a person now.
func (l *activeSession) atLastMessage(ctx context.Context, t Turn) (Turn, error) {
	o, err := l.layout(ctx, t.ID, t.After)
	if err != nil {
		return Turn{}, err
	}
	if !o.Finished && !o.Pauses() {
		return t, nil
	}
	t.SkipPausesThrough, t.Upto = o.Past(), o.Upto()
	if n := len(o.Replies); n > 0 {
		t.From, t.MessageID = o.Replies[n-1].Seq, o.Replies[n-1].ID
	}
	return t, nil
}

// nameSteps returns the events of a turn with native ids that no other turn has.
func (l *activeSession) nameSteps(ctx context.Context, turn string, events []trace.Event) ([]trace.Event, error) {
	named := func(e trace.Event) bool { s, is := e.Payload.(trace.Step); return is && s.NativeID != "" }
	if !slices.ContainsFunc(events, named) {
		return events, nil
	}
	if err := l.loadThread(ctx); err != nil { // which knows the names that other turns have
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	events = slices.Clone(events)
	for i, e := range events {
		if s, is := e.Payload.(trace.Step); is && s.NativeID != "" {
			s.NativeID = l.thread.Names.Give(turn, s.NativeID)
			events[i].Payload = s
		}
	}
	return events, nil
}

// resolveMessageID returns the gateway's own id of a message that may be named by the
// agent's id of its work: a stream may have called the message so. An unknown id stays as
// it is. The thread is loaded.
func (l *activeSession) resolveMessageID(id string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id == "" || l.thread.Find(id) >= 0 {
		return id
	}
	if turn, ok := l.thread.Names.TurnOf(id); ok {
		if m, ok := l.thread.AnswerOf(turn); ok {
			return m.ID
		}
	}
	return id
}
