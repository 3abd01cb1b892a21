package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// scripts are the prompts for the demo agent: text, reasoning, calls, several steps, text that is cut
// inside a character, a sub-agent, a long answer.
func scripts() []string {
	return []string{"hello", "tool", "think", "parallel", "unicode", "subagent", "data", "usage", "all", "long"}
}

// engine makes an empty log with that name, and returns a function that starts a gateway on it.
type engine func(ctx context.Context, name string) (start func() (*gateway, error), err error)

// onSQLite is the engine that keeps its log in the data directory.
func (b *bench) onSQLite(ctx context.Context, name string) (start func() (*gateway, error), err error) {
	return func() (*gateway, error) { return b.start(ctx, filepath.Join(b.dir, name), quickDemo) }, nil
}

// restarts kills the gateway under load, starts it again on the same data, and compares the clients'
// observations with the data.
func (b *bench) restarts(ctx context.Context, on engine, all int, n sizes, c *results) error {
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
		progress("%d of %d rounds", round, all)
	}
	return nil
}

const quickDemo = "log_level: error\nagents: {demo: {options: {pace: 1ms}}}\n"

// oneStore runs some kills on one log, and at the end compares all observations with the log.
func oneStore(ctx context.Context, start func() (*gateway, error), rounds, clients int, c *results) error {
	// Two clients share a session, so that prompts wait when the gateway dies.
	verifiers := make([]*verifier, (clients+1)/2)
	for i := range verifiers {
		verifiers[i] = newVerifier(fmt.Sprintf("s%d", i))
	}
	seen := make([]int, len(verifiers)) // observations that were compared
	compare := func(g *gateway) error {
		return eachVerifier(verifiers, func(i int, w *verifier) (err error) {
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
			return fmt.Errorf("%w; the gateway's log: %s", err, g.Said())
		}
		load(ctx, g, verifiers, clients, 20*time.Millisecond+randomDuration(250*time.Millisecond))
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
	if err := eachVerifier(verifiers, func(_ int, w *verifier) error {
		_, err := w.compare(ctx, g, c, 0, w.since(0))
		return err
	}); err != nil {
		g.kill()
		return fmt.Errorf("after the last round: %w", err)
	}
	return g.end()
}

// eachVerifier calls do for all verifiers at the same time.
func eachVerifier(verifiers []*verifier, do func(int, *verifier) error) error {
	errs := make(chan error, len(verifiers))
	for i, w := range verifiers {
		go func() { errs <- do(i, w) }()
	}
	var first error
	for range verifiers {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}

// load runs clients against the gateway and kills the gateway after some time.
func load(ctx context.Context, g *gateway, verifiers []*verifier, clients int, lifetime time.Duration) {
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() { promptUntilDead(ctx, g, verifiers[i%len(verifiers)]) })
	}
	all.Go(func() { resumeUntilDead(ctx, g, verifiers[0]) })
	select {
	case <-time.After(lifetime):
	case <-ctx.Done():
	}
	g.kill()
	all.Wait()
}

// promptUntilDead sends prompts and reads their answers until the gateway is dead.
func promptUntilDead(ctx context.Context, g *gateway, w *verifier) {
	for ctx.Err() == nil {
		s := &observation{session: w.session, prompt: "u" + rand.Text()}
		res, err := g.prompt(ctx, w.session, s.prompt, randomOf(scripts()))
		if err != nil {
			w.add(s) // the gateway may have recorded the prompt
			return
		}
		s.read(res, toTheEnd)
		w.add(s)
		if !s.complete {
			return
		}
	}
}

// toTheEnd is a number of bytes that no stream reaches.
const toTheEnd = 1 << 30

// resumeUntilDead resumes, as a second tab does, until the gateway is dead.
func resumeUntilDead(ctx context.Context, g *gateway, w *verifier) {
	for ctx.Err() == nil {
		res, err := g.call(ctx, "GET", "/api/chat/"+w.session+"/stream", nil)
		if err != nil {
			return
		}
		s := &observation{session: w.session}
		s.read(res, toTheEnd)
		if s.acked {
			w.add(s)
		}
		select {
		case <-g.Done():
			return
		case <-time.After(randomDuration(10 * time.Millisecond)):
		}
	}
}
