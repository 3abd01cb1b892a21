package cli

import (
	"context"
	"fmt"
	"time"
)

// The exit statuses.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2
	exitCanceled = 130
)

// exitError is an error with an exit status of its own; without an error in it
// everything has been said already.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage is a fault of the command line or the configuration.
func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// sameSignal is how soon after a signal another one is the same wish: some
// supervisors signal a process and its group.
const sameSignal = 300 * time.Millisecond

// untilSignal runs do. The first signal cancels its context; the second stops
// waiting for it, with the status that is given.
func (p *program) untilSignal(ctx context.Context, status int, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	var first time.Time
	for {
		select {
		case err := <-done:
			return err
		case <-p.signals:
			switch {
			case first.IsZero():
				first = time.Now()
				cancel()
			case time.Since(first) > sameSignal:
				return &exitError{status: status}
			}
		}
	}
}
