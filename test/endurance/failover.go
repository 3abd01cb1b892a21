package main

import (
	"context"
	"strings"
	"sync"
	"time"
)

// failovers loads a gateway, keeps a copy of PostgreSQL's files, and puts it in their place while the gateway is under load again. That is
// a fail-over to a standby that lags behind. The gateway ends by itself, and says so. Its next start has all that was there at the copy.
func (b *bench) failovers(ctx context.Context, rounds int, t *results) error {
	start, err := b.onPostgres(ctx, "failovers")
	if err != nil {
		return err
	}
	for range rounds {
		c, err := startClients(ctx, start, answerWithin)
		if err != nil {
			return err
		}
		err = pause(ctx, 500*time.Millisecond)
		c.stop()
		if err == nil {
			err = b.postgres.Save()
		}
		if err == nil {
			err = b.failOver(ctx, c.g, t)
		}
		if err != nil {
			return err
		}
		g, err := start()
		if err != nil {
			return err
		}
		if err := eachVerifier(c.verifiers, func(_ int, w *verifier) error {
			_, err := w.compare(ctx, g, t, 0, w.since(0))
			return err
		}); err != nil {
			return err
		}
		if err := g.end(); err != nil {
			return err
		}
		t.tried(1)
	}
	return nil
}

// failOver restores the copy while clients prompt the gateway, and waits for the gateway's end. The database may lose all that they see.
func (b *bench) failOver(ctx context.Context, g *gateway, t *results) error {
	var clients sync.WaitGroup
	defer clients.Wait()
	for i := range groupClients {
		clients.Go(func() { promptUntilDead(ctx, g, newVerifier([]string{"s0", "s1", "new"}[i%3])) })
	}
	err := pause(ctx, 200*time.Millisecond+randomDuration(500*time.Millisecond))
	if err == nil {
		err = b.postgres.Restore()
	}
	if err != nil {
		g.kill()
		return err
	}
	select {
	case <-g.Done():
		if !strings.Contains(g.Said(), "the database lacks what this gateway has written") {
			t.failed("a gateway has ended: %s", g.Said())
		}
	case <-time.After(answerWithin):
		t.failed("a gateway goes on without what it has written")
		g.kill()
	}
	return nil
}
