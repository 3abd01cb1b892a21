package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// scripts are what the demo agent is asked: text, reasoning, calls, several
// steps, text cut inside its characters, a sub-agent, and one that takes long.
func scripts() []string {
	return []string{"hello", "tool", "think", "parallel", "unicode", "subagent", "data", "usage", "all", "long"}
}

// engine makes an empty log with that name, and returns what starts a gateway on it.
type engine func(ctx context.Context, name string) (start func() (*gateway, error), err error)

// onSQLite is the engine in the data directory.
func (b *bench) onSQLite(ctx context.Context, name string) (start func() (*gateway, error), err error) {
	return func() (*gateway, error) { return b.start(ctx, filepath.Join(b.dir, name), quickDemo) }, nil
}

// restarts kills the gateway under load, starts it again on the same data, and
// compares what its clients saw with what is there.
func (b *bench) restarts(ctx context.Context, on engine, all int, n sizes, c *tally) error {
	for round := 0; round < all; {
		rounds := min(n.perStore, all-round)
		start, err := on(ctx, fmt.Sprintf("restarts_%d", round))
		if err != nil {
			return err
		}
		if err := oneStore(ctx, start, rounds, n.clients, c); err != nil {
			return err
		}
		round += rounds
		say("%d of %d rounds", round, all)
	}
	return nil
}

const quickDemo = "log_level: error\nagents: {demo: {options: {pace: 1ms}}}\n"

// oneStore lives through some kills on one log, and looks at the end whether all that
// was ever seen there is still there.
func oneStore(ctx context.Context, start func() (*gateway, error), rounds, clients int, c *tally) error {
	// Two clients share a session, so that prompts wait when it dies.
	witnesses := make([]*witness, (clients+1)/2)
	for i := range witnesses {
		witnesses[i] = newWitness(fmt.Sprintf("s%d", i))
	}
	seen := make([]int, len(witnesses)) // sights that were compared
	compare := func(g *gateway) error {
		return each(witnesses, func(i int, w *witness) (err error) {
			fresh := w.since(seen[i])
			seen[i] += len(fresh)
			w.checked, err = w.compare(ctx, g, c, w.checked, fresh)
			return err
		})
	}
	for range rounds {
		g, err := start()
		if err != nil {
			return err
		}
		if err := compare(g); err != nil {
			g.kill()
			return fmt.Errorf("%w; the gateway says %s", err, g.Said())
		}
		load(ctx, g, witnesses, clients, 20*time.Millisecond+within(250*time.Millisecond))
		c.tried(1)
	}
	g, err := start()
	if err != nil {
		return err
	}
	if err := compare(g); err != nil {
		g.kill()
		return err
	}
	if err := each(witnesses, func(_ int, w *witness) error {
		_, err := w.compare(ctx, g, c, 0, w.since(0))
		return err
	}); err != nil {
		g.kill()
		return fmt.Errorf("after the last round: %w", err)
	}
	return g.end()
}

// each does something for each witness at the same time.
func each(witnesses []*witness, do func(int, *witness) error) error {
	errs := make(chan error, len(witnesses))
	for i, w := range witnesses {
		go func() { errs <- do(i, w) }()
	}
	var first error
	for range witnesses {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}

// load has clients talk to the gateway until it is killed, which is after a while.
func load(ctx context.Context, g *gateway, witnesses []*witness, clients int, while time.Duration) {
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() { talk(ctx, g, witnesses[i%len(witnesses)]) })
	}
	all.Go(func() { follow(ctx, g, witnesses[0]) })
	select {
	case <-time.After(while):
	case <-ctx.Done():
	}
	g.kill()
	all.Wait()
}

// talk sends prompts and reads their answers until nobody answers.
func talk(ctx context.Context, g *gateway, w *witness) {
	for ctx.Err() == nil {
		s := &sight{session: w.session, prompt: "u" + rand.Text()}
		res, err := g.prompt(ctx, w.session, s.prompt, oneOf(scripts()))
		if err != nil {
			w.add(s) // it may have been taken
			return
		}
		s.read(res, toTheEnd)
		w.add(s)
		if !s.whole {
			return
		}
	}
}

// toTheEnd is more bytes than any stream has.
const toTheEnd = 1 << 30

// follow resumes, as a second tab does, until nobody answers.
func follow(ctx context.Context, g *gateway, w *witness) {
	for ctx.Err() == nil {
		res, err := g.call(ctx, "GET", "/api/chat/"+w.session+"/stream", nil)
		if err != nil {
			return
		}
		s := &sight{session: w.session}
		s.read(res, toTheEnd)
		if s.acked {
			w.add(s)
		}
		select {
		case <-g.Done():
			return
		case <-time.After(within(10 * time.Millisecond)):
		}
	}
}
