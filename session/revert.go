package session

import (
	"context"
	"fmt"

	"github.com/tributary-dev/tributary/trace"
)

// This file removes messages without a replacement.

// Revert removes a message of a user and all that followed it, without a replacement,
// but only if the agent can forget them too.
func (h *Hub) Revert(ctx context.Context, session, message, by string) error {
	return h.writingThread(ctx, session, func(l *activeSession) error { return l.removeFrom(ctx, message, by) })
}

func (l *activeSession) removeFrom(ctx context.Context, message, by string) error {
	if err := l.loadResumePoint(ctx, message); err != nil {
		return err
	}
	unlock, err := l.lockHistory(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	back, stopping, err := l.revert(message, by)
	if err != nil {
		return err
	}
	for _, s := range stopping {
		s.turn.builder.Emit(trace.Rewind{To: back.to})
		s.turn.writeStop(s.stop)
	}
	ctx = context.WithoutCancel(ctx)
	if err := l.append(ctx, "", l.noteOf(trace.Gateway, trace.Rewind{To: back.to}), nil); err != nil {
		l.undoRewind(back)
		l.saveLater()
		l.hub.Logger.Error("messages not taken back", "session", l.id, "error", err)
		return notLogged(err)
	}
	return l.dropHeld(ctx, back.turns)
}

// revert decides which messages are removed, and which turns end because of that.
func (l *activeSession) revert(message, by string) (rewind, []ending, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refusal(); err != nil {
		return rewind{}, nil, err
	}
	switch i := l.thread.Find(message); {
	case message == "" || i < 0:
		return rewind{}, nil, ErrUnknownMessage
	case !l.thread.Messages[i].User:
		return rewind{}, nil, &ChoiceError{"only what a user has said can be taken back, with all that followed it"}
	}
	back, err := l.resolve(Prompt{Message: trace.UserMessage{ID: message}, By: by})
	switch {
	case err != nil:
		return back, nil, err
	case back.ran && back.why != "":
		return back, nil, &ChoiceError{fmt.Sprintf("the agent %s would go on remembering it, so nothing was removed: send a new message instead", l.info.Agent)}
	}
	stopping := l.superseded(back)
	for _, s := range stopping {
		s.turn.decideStop() // all at once, so that none of them begins while another is ended
	}
	l.applyRewind(back)
	l.changes++
	return back, stopping, nil
}

// refusal is why nothing can be done in the session any more, or nil. The caller holds
// l.mu.
func (l *activeSession) refusal() error {
	switch {
	case l.deleted:
		return ErrUnknownSession
	case l.hub.ctx.Err() != nil, l.hub.refuses():
		return ErrClosing
	}
	return nil
}
