package agentops

import "context"

// turnstile lets one through at a time. Unlike at a mutex, who waits may give up:
// behind it somebody may wait for a server.
type turnstile chan struct{}

func newTurnstile() turnstile { return make(turnstile, 1) }

// enter waits for its turn. An error is why ctx ended before that.
func (t turnstile) enter(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t turnstile) leave() { <-t }
