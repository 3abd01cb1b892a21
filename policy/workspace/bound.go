package workspace

import (
	"context"
	"errors"
	"time"
)

// ErrSlow says that the file system did not answer in time, as a mount whose server
// is gone does not.
var ErrSlow = errors.New("the file system does not answer")

const (
	// defaultPatience is how long an operation on a file may take.
	defaultPatience = 10 * time.Second
	// mostHanging is how many operations of one Dir may hang in the kernel. When so
	// many hang, further operations fail after the time limit.
	mostHanging = 16
)

// gate bounds the operations of a Dir: their time, and how many are under way.
type gate struct {
	patience time.Duration
	slots    chan struct{}
}

func newGate(patience time.Duration) *gate {
	return &gate{patience: patience, slots: make(chan struct{}, mostHanging)}
}

// bounded runs an operation and returns when the operation is over, or with ErrSlow
// after the time limit. No other function of the package waits for the file system.
// An operation that hangs keeps its goroutine and its slot until the kernel
// returns; the result is then dropped. op gives up when its ctx ends, where it can.
func bounded[T any](g *gate, op func(ctx context.Context) (T, error)) (T, error) {
	var none T
	if g == nil {
		return none, errNotOpen
	}
	ctx, cancel := context.WithTimeout(context.Background(), g.patience)
	defer cancel()
	select {
	case g.slots <- struct{}{}:
	case <-ctx.Done():
		return none, ErrSlow
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		defer func() { <-g.slots }()
		value, err := op(ctx)
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return none, ErrSlow
	}
}
