package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// The turns are spread over this many sessions and clients.
const (
	turnSessions = 200
	turnClients  = 16
)

// idleLimit bounds the time until the gateway is idle after its work. Sessions
// leave the memory after seconds with this configuration, and the log gives them back a minute
// later.
const idleLimit = 200 * time.Second

const evictSoon = `
log_level: error
agents: {demo: {options: {pace: 0s}}}
sessions: {agent_idle: 1s, evict_after: 2s, replay: 1s}
`

// turns runs very many turns and measures what they leave in the process.
func (b *bench) turns(ctx context.Context, n int, steady time.Duration, c *results) error {
	g, err := b.start(ctx, filepath.Join(b.dir, "turns"), evictSoon)
	if err != nil {
		return err
	}
	if err := baselines(ctx, g, n, steady, c); err != nil {
		g.kill()
		return err
	}
	return g.end()
}

func baselines(ctx context.Context, g *gateway, n int, steady time.Duration, c *results) error {
	// The first turns make every session, pool and cache, before the baseline is taken.
	if err := runTurns(ctx, g, max(turnSessions, n/20), c); err != nil {
		return err
	}
	before, err := waitIdle(ctx, g, nil, steady)
	if err != nil {
		return err
	}
	progress("idle before: %s", before)
	began := time.Now()
	if err := runTurns(ctx, g, n, c); err != nil {
		return err
	}
	took := time.Since(began)
	after, err := waitIdle(ctx, g, &before, steady)
	if err != nil {
		return err
	}
	progress("idle after %d turns in %s (%.0f/s): %s", n, took.Round(time.Second), float64(n)/took.Seconds(), after)
	after.countLeaks(before, c)
	return nil
}

// runTurns has clients run turns in all sessions in order.
func runTurns(ctx context.Context, g *gateway, n int, c *results) error {
	var left atomic.Int64
	left.Store(int64(n))
	var clients sync.WaitGroup
	for range turnClients {
		clients.Go(func() {
			for i := left.Add(-1); i >= 0 && ctx.Err() == nil; i = left.Add(-1) {
				oneTurn(ctx, g, fmt.Sprintf("t%d", i%turnSessions), c)
				if done := int64(n) - i; done%20_000 == 0 {
					progress("%d turns", done)
				}
			}
		})
	}
	clients.Wait()
	return ctx.Err()
}

// oneTurn runs a turn.
func oneTurn(run context.Context, g *gateway, session string, c *results) {
	ctx, cancel := context.WithTimeout(run, answerWithin)
	defer cancel()
	s := &observation{session: session, prompt: "u" + rand.Text()}
	words := []string{"hello", "hello", "think", "tool"}
	res, err := g.prompt(ctx, session, s.prompt, randomOf(words))
	if err == nil {
		s.read(res, toTheEnd)
	}
	if run.Err() != nil {
		return // the end of the run cut the turn off
	}
	c.tried(1)
	switch {
	case err != nil:
		c.failed("%s: a prompt was not answered: %v", session, err)
	case !s.complete:
		c.failed("%s: a turn has no end: %s %q", session, s.refused, tail(string(s.raw)))
	}
}
