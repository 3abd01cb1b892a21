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
	var (
		value    T
		err      error
		panicked any
	)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		value, err = do()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		select {
		case <-done:
		case <-time.After(patience):
			var none T
			return none, fmt.Errorf("wait for the log: %w: %w", ErrLog, context.Cause(ctx))
		}
	}
	if panicked != nil {
		panic(panicked) // where the caller's callers expect it
	}
	return value, err
}
