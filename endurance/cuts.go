package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// A wave of cuts has this many turns at the same time, and cuts this many readers of each.
const (
	waveTurns  = 10
	waveCuts   = 8
	waveSpread = 400 * time.Millisecond
)

// cuts cuts the streams of running and just finished turns at random bytes and resumes them. Every
// second wave also kills the gateway. The bytes of a reader must be the beginning of the replay. A
// complete stream must be equal to the replay.
func (b *bench) cuts(ctx context.Context, n int, c *tally) error {
	data := filepath.Join(b.dir, "cuts")
	g, err := b.start(ctx, data, quickDemo)
	if err != nil {
		return err
	}
	kills := 0
	for wave := 0; c.sofar() < n; wave++ {
		killed := wave%2 == 1
		pairs := min(n-c.sofar(), waveTurns*waveCuts)
		witnesses := b.wave(ctx, g, wave, pairs, killed, c)
		if killed {
			kills++
			if g, err = b.start(ctx, data, quickDemo); err != nil {
				return err
			}
		}
		if err := each(witnesses, func(_ int, w *witness) error {
			w.same = !killed
			_, err := w.compare(ctx, g, c, 0, w.since(0))
			return err
		}); err != nil {
			g.kill()
			return fmt.Errorf("wave %d: %w; the gateway says %s", wave, err, g.Said())
		}
		c.tried(pairs)
		if wave%25 == 24 {
			say("%d cuts, %d kills among them", c.sofar(), kills)
		}
	}
	say("%d cuts, %d kills among them", c.sofar(), kills)
	return g.end()
}

// wave runs some turns, cuts their readers and returns all observations.
func (b *bench) wave(ctx context.Context, g *gateway, wave, cuts int, kill bool, c *tally) []*witness {
	words := []string{"slow", "all", "parallel", "unicode", "subagent", "slow", "all", "tool", "data", "long"}
	if !kill { // the longest turn would take too long without a kill
		words[9] = "think"
	}
	var readers sync.WaitGroup
	var witnesses []*witness
	for i := range min(waveTurns, cuts) {
		w := newWitness(fmt.Sprintf("w%d-%d", wave, i))
		witnesses = append(witnesses, w)
		begun := make(chan struct{})
		readers.Go(func() {
			s := &sight{session: w.session, prompt: "u-" + w.session}
			res, err := g.prompt(ctx, w.session, s.prompt, words[i])
			close(begun)
			if err == nil {
				most := toTheEnd
				if below(3) == 0 { // the first reader's connection breaks too
					most = anywhere()
				}
				s.read(res, most)
			}
			w.add(s)
		})
		for range share(cuts, i, min(waveTurns, cuts)) {
			readers.Go(func() {
				<-begun
				cutAndResume(ctx, g, w, kill, c)
			})
		}
	}
	if kill {
		select {
		case <-time.After(30*time.Millisecond + within(600*time.Millisecond)):
		case <-ctx.Done():
		}
		g.kill()
	}
	readers.Wait()
	return witnesses
}

// share divides n among m and returns the number for the i-th.
func share(n, i, m int) int {
	if i < n%m {
		return n/m + 1
	}
	return n / m
}

// cutAndResume reads a stream until it is cut, and then the whole of it, unless
// the gateway dies meanwhile.
func cutAndResume(ctx context.Context, g *gateway, w *witness, dying bool, c *tally) {
	path := "/api/chat/" + w.session + "/stream"
	for i, most := range []int{anywhere(), toTheEnd} {
		select {
		case <-g.Done():
			return
		case <-time.After(within(waveSpread)):
		}
		res, err := g.call(ctx, "GET", path, nil)
		if err != nil {
			if !dying && ctx.Err() == nil {
				c.failed("%s: the resume was not answered: %v", w.session, err)
			}
			return
		}
		s := &sight{session: w.session}
		s.read(res, most)
		w.add(s)
		switch {
		case dying, ctx.Err() != nil:
		case s.refused != "":
			c.failed("%s: the resume was answered with %s", w.session, s.refused)
		case i == 1 && !s.whole:
			c.failed("%s: the resume broke off after %d bytes: %q", w.session, len(s.raw), tail(string(s.raw)))
		}
	}
}
