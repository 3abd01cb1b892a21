package session

import (
	"context"
	"fmt"
	"time"
)

// This file bounds what a disk that hangs can hold up.

const (
	// afterRequest is how long a request that has ended still waits for the log.
	afterRequest = 5 * time.Second
	// afterDrain is how long Close waits for the log when turns have no more time.
	afterDrain = 15 * time.Second
)

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
	select {
	case r := <-done:
		return take(r)
	case <-time.After(patience):
		var none T
		return none, fmt.Errorf("wait for the log: %w: %w", ErrLog, context.Cause(ctx))
	}
}
