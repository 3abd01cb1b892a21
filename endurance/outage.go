package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// outages kills PostgreSQL under load and starts it again, round by round. The gateway
// waits for its database: no turn fails.
func (b *bench) outages(ctx context.Context, rounds int, t *tally) error {
	start, err := b.onPostgres(ctx, "outages")
	if err != nil {
		return err
	}
	g, err := start()
	if err != nil {
		return err
	}
	c := gather(ctx, g, answerWithin)
	defer c.leave()
	for range rounds {
		if err := pause(ctx, 100*time.Millisecond+within(400*time.Millisecond)); err != nil {
			return err
		}
		b.postgres.Kill()
		err := pause(ctx, within(time.Second))
		if fault := b.postgres.Revive(); fault != nil {
			return fault
		}
		if err != nil {
			return err
		}
		t.tried(1)
	}
	if err := pause(ctx, time.Second); err != nil {
		return err
	}
	c.leave()
	c.whole(t, "")
	say("%d prompts were answered", c.answered())
	return b.reckon(ctx, c, t, start)
}

// onPostgres returns what starts a gateway on a new database, and on a data directory
// with the same name.
func (b *bench) onPostgres(ctx context.Context, name string) (start func() (*gateway, error), err error) {
	if err := b.postgres.Make(name); err != nil {
		return nil, err
	}
	return func() (*gateway, error) { return b.beside(ctx, name, name) }, nil
}

// beside starts a gateway on a database that others may use too.
func (b *bench) beside(ctx context.Context, data, database string) (*gateway, error) {
	g, err := b.start(ctx, filepath.Join(b.dir, data), quickDemo, "--db", b.postgres.URL(database))
	if err != nil {
		return nil, fmt.Errorf("on PostgreSQL: %w", err)
	}
	return g, nil
}
