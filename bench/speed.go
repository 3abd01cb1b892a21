package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// measureSpeed lets agents speak as fast as they can: frames per second, and the
// processor time of each.
func (b *bencher) measureSpeed(ctx context.Context) error {
	servers, err := b.start.all(ctx, gateway, raw, peer, synced)
	if err != nil {
		return err
	}
	defer endAll(servers)
	for _, streams := range []int{1, 100} {
		words := b.scale.words
		if streams == 1 {
			words *= 10 // as much as the clock says at once
		}
		for round := range b.scale.rounds {
			for _, s := range servers {
				fmt.Fprintf(os.Stderr, "  %d streams, round %d, %s\n", streams, round+1, s.name)
				frames, took, cpu, err := race(ctx, s, streams, words)
				if err != nil {
					return errors.Join(err, s.alive())
				}
				b.figures.add(framesPerSecond(streams), s.name, float64(frames)/took.Seconds())
				b.figures.add(cpuFull(streams), s.name, microseconds(cpu)/float64(frames))
			}
		}
	}
	return nil
}

// race hears so many streams at once, from their beginning to their end.
func race(ctx context.Context, s *server, streams, words int) (frames int, took, cpu time.Duration, err error) {
	before, err := s.cpu()
	if err != nil {
		return 0, 0, 0, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began := time.Now()
	all := make([]heard, streams)
	var wait sync.WaitGroup
	for i := range streams {
		wait.Go(func() {
			var err error
			if all[i], err = s.chat(ctx, ask{session: newSession(), words: words}); err != nil {
				cancel(err)
			}
		})
	}
	wait.Wait()
	took = time.Since(began)
	after, err := s.cpu()
	if err = errors.Join(context.Cause(ctx), err); err != nil {
		return 0, 0, 0, err
	}
	for _, h := range all {
		frames += len(h.words)
	}
	if frames != streams*words {
		return 0, 0, 0, fmt.Errorf("%s said %d words of %d", s.name, frames, streams*words)
	}
	return frames, took, after - before, nil
}
