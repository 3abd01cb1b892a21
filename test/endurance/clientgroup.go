package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"
)

// clientGroup is a set of clients that prompt a gateway through all faults, and their observations.
type clientGroup struct {
	g         *gateway
	others    []*gateway    // that the clients use, too
	patience  time.Duration // how long an answer may take
	verifiers []*verifier
	quit      chan struct{}
	clients   sync.WaitGroup
}

// groupClients is the number of clients. Two of them share a session.
const groupClients = 8

// startClients starts a gateway and the clients that prompt it, and the other gateways.
func startClients(ctx context.Context, start func() (*gateway, error), patience time.Duration, others ...*gateway) (*clientGroup, error) {
	g, err := start()
	if err != nil {
		return nil, err
	}
	c := &clientGroup{g: g, others: others, patience: patience, quit: make(chan struct{})}
	for i := range groupClients / 2 {
		c.verifiers = append(c.verifiers, newVerifier(fmt.Sprintf("s%d", i)))
	}
	for i := range groupClients {
		w := c.verifiers[i%len(c.verifiers)]
		c.clients.Go(func() { c.promptUntilStopped(ctx, w) })
	}
	return c, nil
}

// promptUntilStopped sends prompts and reads their answers, also after a refusal.
func (c *clientGroup) promptUntilStopped(ctx context.Context, w *verifier) {
	const retryAfter = 50 * time.Millisecond
	for {
		select {
		case <-c.quit:
			return
		default:
		}
		s := c.prompt(ctx, w, randomOf(scripts()))
		if s.complete {
			continue
		}
		select {
		case <-c.quit:
			return
		case <-time.After(retryAfter):
		}
	}
}

func (c *clientGroup) prompt(ctx context.Context, w *verifier, text string) *observation {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	s := &observation{session: w.session, prompt: "u" + rand.Text()}
	g := c.g
	if i := randomBelow(len(c.others) + 1); i > 0 {
		g = c.others[i-1]
	}
	if res, err := g.prompt(ctx, w.session, s.prompt, text); err == nil {
		s.read(res, toTheEnd)
	}
	w.add(s)
	return s
}

// addLongPrompt starts one more client, which asks for a long answer in a session of its own.
func (c *clientGroup) addLongPrompt(ctx context.Context) {
	w := newVerifier(fmt.Sprintf("alone%d", len(c.verifiers)))
	c.verifiers = append(c.verifiers, w)
	c.clients.Go(func() { c.prompt(ctx, w, "slow") })
}

// stop stops the clients from prompting and waits for the turns that run.
func (c *clientGroup) stop() {
	select {
	case <-c.quit:
	default:
		close(c.quit)
	}
	c.clients.Wait()
}

// checkComplete counts the answers without an end, and those that ended with another error than the
// permitted ones. The gateway must have lived through all of them.
func (c *clientGroup) checkComplete(t *results, permitted ...string) {
	for _, w := range c.verifiers {
		for _, s := range w.since(0) {
			switch failed := failureOf(s.raw); {
			case !s.acked:
			case !s.complete:
				t.failed("%s: an answer has no end: %q", w.session, tail(string(s.raw)))
			case failed != "" && !slices.Contains(permitted, failed):
				t.failed("%s: an answer failed: %s", w.session, failed)
			}
		}
	}
}

// answered counts the prompts with a complete answer.
func (c *clientGroup) answered() (n int) {
	for _, w := range c.verifiers {
		for _, s := range w.since(0) {
			if s.complete {
				n++
			}
		}
	}
	return n
}

// compare compares all observations with the gateway's data, once every turn has its stop.
func (c *clientGroup) compare(ctx context.Context, g *gateway, t *results) error {
	return eachVerifier(c.verifiers, func(_ int, w *verifier) error {
		if !anyTold(w.since(0)) {
			return nil
		}
		if err := w.closed(ctx, g); err != nil {
			return err
		}
		_, err := w.compare(ctx, g, t, 0, w.since(0))
		return err
	})
}

// closeWithin is how long a gateway may take to close the turns that a fault has ended.
const closeWithin = 15 * time.Second

// closed waits, for a bounded time, until each turn of the session has its stop. The comparison
// counts the turns without one.
func (w *verifier) closed(ctx context.Context, g *gateway) error {
	for began := time.Now(); ; {
		b, err := g.audit(ctx, &results{printed: mostPrinted}, w.session, 0)
		if err != nil {
			return err
		}
		open := false
		for _, turn := range b.turns {
			open = open || turn.stops == 0
		}
		if !open || time.Since(began) > closeWithin {
			return nil
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil { //nolint:mnd // between two audits
			return err
		}
	}
}

// pause waits, unless the run is interrupted.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stopAndCompare stops the clients, checks that their answers are complete or ended with the permitted
// error, and compares their observations with the gateway's data, before and after a restart.
func (c *clientGroup) stopAndCompare(ctx context.Context, t *results, permitted string, start func() (*gateway, error)) error {
	c.stop()
	c.checkComplete(t, permitted)
	if err := c.compare(ctx, c.g, t); err != nil {
		return fmt.Errorf("%w; the gateway's log: %s", err, c.g.Said())
	}
	if err := c.g.end(); err != nil {
		return err
	}
	g, err := start()
	if err != nil {
		return err
	}
	if err := c.compare(ctx, g, t); err != nil {
		g.kill()
		return fmt.Errorf("after a restart: %w", err)
	}
	return g.end()
}
