package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"
)

// crowd is clients that talk to a gateway whatever happens to it, and what they saw.
type crowd struct {
	g         *gateway
	patience  time.Duration // how long an answer may take
	witnesses []*witness
	quit      chan struct{}
	clients   sync.WaitGroup
}

// The crowd has so many clients, and two of them in each session.
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
	const again = 50 * time.Millisecond
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
		case <-time.After(again):
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

// alone has one more client ask for a long answer in a session where nobody else asks.
func (c *crowd) alone(ctx context.Context) {
	w := newWitness(fmt.Sprintf("alone%d", len(c.witnesses)))
	c.witnesses = append(c.witnesses, w)
	c.clients.Go(func() { c.ask(ctx, w, "slow") })
}

// leave ends the crowd: nobody prompts any more, and the turns that run come to
// their ends.
func (c *crowd) leave() {
	select {
	case <-c.quit:
	default:
		close(c.quit)
	}
	c.clients.Wait()
}

// whole counts the answers that have no end though the gateway lived on, and those that
// ended with another error than the permitted one.
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

// answered is how many prompts of the crowd were answered to their ends.
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

// compare compares all that the crowd saw with what a gateway has, once every turn
// has its stop.
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

// closed waits until each turn of the session has its stop, or for long enough. The
// comparison counts those that have none.
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
		if err := pause(ctx, 200*time.Millisecond); err != nil { //nolint:mnd // a look now and then
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

// reckon ends the crowd and compares what it saw with what the gateway has, and after
// a restart of the gateway once more.
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
