package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"
)

// crowd is a set of clients that prompt a gateway through all faults, and their observations.
type crowd struct {
	g         *gateway
	patience  time.Duration // how long an answer may take
	witnesses []*witness
	quit      chan struct{}
	clients   sync.WaitGroup
}

// crowdClients is the number of clients. Two of them share a session.
const crowdClients = 8

// gather starts the clients of a crowd.
func gather(ctx context.Context, g *gateway, patience time.Duration) *crowd {
	c := &crowd{g: g, patience: patience, quit: make(chan struct{})}
	for i := range crowdClients / 2 {
		c.witnesses = append(c.witnesses, newWitness(fmt.Sprintf("s%d", i)))
	}
	for i := range crowdClients {
		w := c.witnesses[i%len(c.witnesses)]
		c.clients.Go(func() { c.talk(ctx, w) })
	}
	return c
}

// talk sends prompts and reads their answers, also after a refusal.
func (c *crowd) talk(ctx context.Context, w *witness) {
	const retryAfter = 50 * time.Millisecond
	for {
		select {
		case <-c.quit:
			return
		default:
		}
		s := c.ask(ctx, w, oneOf(scripts()))
		if s.whole {
			continue
		}
		select {
		case <-c.quit:
			return
		case <-time.After(retryAfter):
		}
	}
}

func (c *crowd) ask(ctx context.Context, w *witness, text string) *sight {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	s := &sight{session: w.session, prompt: "u" + rand.Text()}
	if res, err := c.g.prompt(ctx, w.session, s.prompt, text); err == nil {
		s.read(res, toTheEnd)
	}
	w.add(s)
	return s
}

// alone starts one more client, which asks for a long answer in a session of its own.
func (c *crowd) alone(ctx context.Context) {
	w := newWitness(fmt.Sprintf("alone%d", len(c.witnesses)))
	c.witnesses = append(c.witnesses, w)
	c.clients.Go(func() { c.ask(ctx, w, "slow") })
}

// leave stops the clients from prompting and waits for the turns that run.
func (c *crowd) leave() {
	select {
	case <-c.quit:
	default:
		close(c.quit)
	}
	c.clients.Wait()
}

// whole counts the answers without an end, and those that ended with another error than the
// permitted one. The gateway must have lived through all of them.
func (c *crowd) whole(t *tally, permitted string) {
	for _, w := range c.witnesses {
		for _, s := range w.since(0) {
			switch failed := failureOf(s.raw); {
			case !s.acked:
			case !s.whole:
				t.failed("%s: an answer has no end: %q", w.session, tail(string(s.raw)))
			case failed != "" && failed != permitted:
				t.failed("%s: an answer failed: %s", w.session, failed)
			}
		}
	}
}

// answered counts the prompts with a complete answer.
func (c *crowd) answered() (n int) {
	for _, w := range c.witnesses {
		for _, s := range w.since(0) {
			if s.whole {
				n++
			}
		}
	}
	return n
}

// compare compares all observations with the gateway's data, once every turn has its stop.
func (c *crowd) compare(ctx context.Context, g *gateway, t *tally) error {
	return each(c.witnesses, func(_ int, w *witness) error {
		if !anyAcked(w.since(0)) {
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
func (w *witness) closed(ctx context.Context, g *gateway) error {
	for began := time.Now(); ; {
		b, err := g.audit(ctx, &tally{said: mostSaid}, w.session, 0)
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

// reckon ends the crowd and compares its observations with the gateway's data, before and after a
// restart of the gateway.
func (b *bench) reckon(ctx context.Context, c *crowd, t *tally, start func() (*gateway, error)) error {
	c.leave()
	if err := c.compare(ctx, c.g, t); err != nil {
		return fmt.Errorf("%w; the gateway says %s", err, c.g.Said())
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
