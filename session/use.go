package session

import (
	"context"
	"fmt"
	"time"
)

// This file has the ways in which requests use sessions, and bounds what a disk that hangs can hold up.

const (
	// afterRequest is how long a request that has ended still waits for the log.
	afterRequest = 5 * time.Second
	// afterDrain is how long Close waits for the log when turns have no more time.
	afterDrain = 15 * time.Second
)

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

// within returns what do returns, and waits for it until ctx ends and for some time after. Then the
// error is ErrLog, and do goes on: what it writes is on record if the disk ever takes it. Everything but
// a write to the log ends with ctx by itself.
func within[T any](ctx context.Context, patience time.Duration, do func() (T, error)) (T, error) {
	type result struct {
		value    T
		err      error
		panicked any
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			r.panicked = recover()
			done <- r
		}()
		r.value, r.err = do()
	}()
	take := func(r result) (T, error) {
		if r.panicked != nil {
			panic(r.panicked) // where the caller's callers expect it
		}
		return r.value, r.err
	}
	select {
	case r := <-done:
		return take(r)
	case <-ctx.Done():
	}
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case r := <-done:
		return take(r)
	case <-wait.C:
		var none T
		return none, fmt.Errorf("wait for the log: %w: %w", ErrLog, context.Cause(ctx))
	}
}
