package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// In the round longRound, which only the full size has, PostgreSQL is away for longer than a lease.
const (
	longRound  = 19
	longOutage = 30 * time.Second
)

// dbPatience is a little less than the 10 s for which a gateway waits for its database.
const dbPatience = 9 * time.Second

// outages kills PostgreSQL under load and starts it again, round by round. The gateway waits for its
// database, so no turn fails. If a busy machine kept PostgreSQL down for longer, turns may end with
// the error of a failed log.
func (b *bench) outages(ctx context.Context, rounds int, t *results) error {
	start, err := b.onPostgres(ctx, "outages")
	if err != nil {
		return err
	}
	c, err := startClients(ctx, start, answerWithin)
	if err != nil {
		return err
	}
	defer c.stop()
	permitted := ""
	for n := range rounds {
		if err := pause(ctx, 100*time.Millisecond+randomDuration(400*time.Millisecond)); err != nil {
			return err
		}
		away := time.Now()
		b.postgres.Kill()
		err := pause(ctx, cmp.Or(longOutage*time.Duration(n/longRound), randomDuration(time.Second)))
		if fault := b.postgres.Revive(); fault != nil {
			return fault
		}
		if err != nil {
			return err
		}
		if d := time.Since(away); d > dbPatience && n < longRound {
			progress("PostgreSQL was down for %s", d.Round(time.Millisecond))
			permitted = logFailed
		}
		t.tried(1)
	}
	if err := pause(ctx, time.Second); err != nil {
		return err
	}
	return c.stopAndCompare(ctx, t, permitted, start)
}

// onPostgres makes a database and returns a function that starts a gateway on it, with a data
// directory of the same name.
func (b *bench) onPostgres(ctx context.Context, name string) (start func() (*gateway, error), err error) {
	if err := b.postgres.Make(name); err != nil {
		return nil, err
	}
	return func() (*gateway, error) { return b.startOnDatabase(ctx, name, name) }, nil
}

// startOnDatabase starts a gateway on a database that other gateways may use too.
func (b *bench) startOnDatabase(ctx context.Context, data, database string) (*gateway, error) {
	g, err := b.start(ctx, filepath.Join(b.dir, data), quickDemo, "--db", b.postgres.URL(database))
	if err != nil {
		return nil, fmt.Errorf("on PostgreSQL: %w", err)
	}
	return g, nil
}
