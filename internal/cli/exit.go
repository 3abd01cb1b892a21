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

// exitError is an error with an exit status. An exitError without an error inside prints
// nothing.
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

// sameSignal is the time in which a second signal counts as the first: some supervisors
// signal both a process and its group.
const sameSignal = 300 * time.Millisecond

// untilSignal runs do. The first signal cancels the context of do. The second signal ends
// the wait for do, with the given status.
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
