package agentops

import "context"

// ctxMutex lets one through at a time. Unlike at a mutex, who waits may give up:
// behind it somebody may wait for a server.
type ctxMutex chan struct{}

func newCtxMutex() ctxMutex { return make(ctxMutex, 1) }

// enter waits for its turn. An error is why ctx ended before that.
func (t ctxMutex) enter(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t ctxMutex) leave() { <-t }
