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
func (b *bench) cuts(ctx context.Context, n int, c *results) error {
	data := filepath.Join(b.dir, "cuts")
	g, err := b.start(ctx, data, quickDemo)
	if err != nil {
		return err
	}
	kills := 0
	for wave := 0; c.triedSoFar() < n; wave++ {
		killed := wave%2 == 1
		pairs := min(n-c.triedSoFar(), waveTurns*waveCuts)
		verifiers := b.wave(ctx, g, wave, pairs, killed, c)
		if killed {
			kills++
			if g, err = b.start(ctx, data, quickDemo); err != nil {
				return err
			}
		}
		if err := eachVerifier(verifiers, func(_ int, w *verifier) error {
			w.same = !killed
			_, err := w.compare(ctx, g, c, 0, w.since(0))
			return err
		}); err != nil {
			g.kill()
			return fmt.Errorf("wave %d: %w; the gateway's log: %s", wave, err, g.Said())
		}
		c.tried(pairs)
		if wave%25 == 24 {
			progress("%d cuts, %d kills among them", c.triedSoFar(), kills)
		}
	}
	progress("%d cuts, %d kills among them", c.triedSoFar(), kills)
	return g.end()
}

// wave runs some turns, cuts their readers and returns all observations.
func (b *bench) wave(ctx context.Context, g *gateway, wave, cuts int, kill bool, c *results) []*verifier {
	words := []string{"slow", "all", "parallel", "unicode", "subagent", "slow", "all", "tool", "data", "long"}
	if !kill { // the longest turn would take too long without a kill
		words[9] = "think"
	}
	var readers sync.WaitGroup
	var verifiers []*verifier
	for i := range min(waveTurns, cuts) {
		w := newVerifier(fmt.Sprintf("w%d-%d", wave, i))
		verifiers = append(verifiers, w)
		begun := make(chan struct{})
		readers.Go(func() {
			s := &observation{session: w.session, prompt: "u-" + w.session}
			res, err := g.prompt(ctx, w.session, s.prompt, words[i])
			close(begun)
			if err == nil {
				most := toTheEnd
				if randomBelow(3) == 0 { // the first reader's connection breaks too
					most = randomCut()
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
		case <-time.After(30*time.Millisecond + randomDuration(600*time.Millisecond)):
		case <-ctx.Done():
		}
		g.kill()
	}
	readers.Wait()
	return verifiers
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
func cutAndResume(ctx context.Context, g *gateway, w *verifier, dying bool, c *results) {
	path := "/api/chat/" + w.session + "/stream"
	for i, most := range []int{randomCut(), toTheEnd} {
		select {
		case <-g.Done():
			return
		case <-time.After(randomDuration(waveSpread)):
		}
		res, err := g.call(ctx, "GET", path, nil)
		if err != nil {
			if !dying && ctx.Err() == nil {
				c.failed("%s: the resume was not answered: %v", w.session, err)
			}
			return
		}
		s := &observation{session: w.session}
		s.read(res, most)
		w.add(s)
		switch {
		case dying, ctx.Err() != nil:
		case s.refused != "":
			c.failed("%s: the resume was answered with %s", w.session, s.refused)
		case i == 1 && !s.complete:
			c.failed("%s: the resume broke off after %d bytes: %q", w.session, len(s.raw), tail(string(s.raw)))
		}
	}
}
