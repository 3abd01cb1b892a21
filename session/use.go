package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/eventlog"
)

// This file finds sessions for requests.

// use calls do with a session, which stays in memory until do returns.
func (h *Hub) use(ctx context.Context, session string, do func(*activeSession) error) error {
	l, release, err := h.session(ctx, session)
	if err != nil {
		return err
	}
	defer release()
	return do(l)
}

// use is Hub.use for a value.
func use[T any](ctx context.Context, h *Hub, session string, do func(*activeSession) (T, error)) (value T, err error) {
	err = h.use(ctx, session, func(l *activeSession) error {
		value, err = do(l)
		return err
	})
	return value, err
}

// useThread is use for a session whose thread is loaded.
func useThread[T any](ctx context.Context, h *Hub, session string, do func(*activeSession) (T, error)) (T, error) {
	return use(ctx, h, session, func(l *activeSession) (none T, err error) {
		if err := l.loadThread(ctx); err != nil {
			return none, err
		}
		return do(l)
	})
}

// writing is use for a request that writes to the log: see within.
func writing[T any](ctx context.Context, h *Hub, session string, do func(*activeSession) (T, error)) (T, error) {
	return within(ctx, afterRequest, func() (T, error) { return use(ctx, h, session, do) })
}

// writingThread is writing for a session whose thread is loaded.
func writingThread[T any](ctx context.Context, h *Hub, session string, do func(*activeSession) (T, error)) (T, error) {
	return within(ctx, afterRequest, func() (T, error) { return useThread(ctx, h, session, do) })
}

// writingThread is writingThread for a request that returns no value.
func (h *Hub) writingThread(ctx context.Context, session string, do func(*activeSession) error) error {
	_, err := writingThread(ctx, h, session, func(l *activeSession) (struct{}, error) { return struct{}{}, do(l) })
	return err
}

// Get tells what is known of a session, what it does and in which turn.
func (h *Hub) Get(ctx context.Context, id string) (Summary, error) {
	h.mu.Lock()
	left := h.left
	h.mu.Unlock()
	s, err := use(ctx, h, id, func(l *activeSession) (Summary, error) { return l.summary(), nil })
	if errors.Is(err, ErrUnknownSession) {
		s.absent = left
	}
	return s, err
}

// document is the session's document as memory has it. What it refers to is never changed.
func (l *activeSession) document() Info {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.info
}

// view is the session as memory has it.
func (l *activeSession) view() Summary {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Summary{Info: l.info}
	s.Open = slices.Clone(s.Open)
	s.State, s.Turn = l.state()
	s.Waiting = l.waiting()
	return s
}

// session returns a session, reading its document if it is not in memory. What memory has of the
// session is not older than the database. The session stays in memory until release is called.
func (h *Hub) session(ctx context.Context, id string) (l *activeSession, release func(), err error) {
	for {
		h.mu.Lock()
		if l := h.sessions[id]; l != nil {
			release := h.pin(l)
			h.mu.Unlock()
			if err := l.refresh(ctx); err != nil {
				release()
				return nil, nil, err
			}
			return l, release, nil
		}
		left := h.left
		h.mu.Unlock()
		now, err := h.standing(ctx, id) // before the document, which is then of this term at least
		if err != nil {
			return nil, nil, err
		}
		info, err := h.read(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		h.mu.Lock()
		if h.sessions[id] == nil && h.left == left { // else it may have been deleted since
			l := h.newSession(info)
			l.standing = now
			h.register(l)
			defer h.mu.Unlock()
			return l, h.pin(l), nil
		}
		h.mu.Unlock()
	}
}

// read reads a session's document.
func (h *Hub) read(ctx context.Context, id string) (Info, error) {
	doc, err := h.Log.Get(ctx, id)
	if errors.Is(err, eventlog.ErrNoSession) {
		return Info{}, ErrUnknownSession
	}
	if damaged, is := errors.AsType[*eventlog.DamageError](err); is {
		return Info{}, damaged
	}
	if err != nil {
		return Info{}, fmt.Errorf("read session %q: %w", id, err)
	}
	return infoOf(id, doc)
}
