package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// measureSpeed lets agents speak as fast as they can: words per second, and the
// processor time of each.
func (b *bencher) measureSpeed(ctx context.Context) error {
	servers, err := b.start.all(ctx, gateway, raw, peer, unsynced, onPostgres)
	if err != nil {
		return err
	}
	defer endAll(servers)
	for _, c := range []struct{ streams, turns, words int }{{1, b.scale.turns, endless}, {100, 1, b.scale.words}} {
		for round := range b.scale.rounds {
			for _, s := range servers {
				fmt.Fprintf(os.Stderr, "  %d streams, round %d, %s\n", c.streams, round+1, s.name)
				took, cpu, words, err := race(ctx, s, c.streams, c.turns, c.words)
				if err != nil {
					return errors.Join(err, s.alive())
				}
				b.figures.add(wordsPerSecond(c.streams), s.name, words/took.Seconds())
				b.figures.add(cpuFull(c.streams), s.name, microseconds(cpu)/words)
			}
		}
	}
	return nil
}

// race lets so many streams have so many turns, one after the other. A server may join
// words that wait: each word has to come, in a frame of its own or not.
func race(ctx context.Context, s *server, streams, turns, words int) (took, cpu time.Duration, heard float64, err error) {
	before, err := s.cpu()
	if err != nil {
		return 0, 0, 0, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began := time.Now()
	var wait sync.WaitGroup
	var count atomic.Int64
	for range streams {
		wait.Go(func() {
			session := newSession()
			for range turns {
				h, err := s.chat(ctx, request{session: session, words: words})
				if err == nil && len(h.words) != words {
					err = fmt.Errorf("%s said %d words of %d", s.name, len(h.words), words)
				}
				if err != nil {
					cancel(err)
					return
				}
				count.Add(int64(len(h.words)))
			}
		})
	}
	wait.Wait()
	took = time.Since(began)
	after, err := s.cpu()
	return took, after - before, float64(count.Load()), errors.Join(context.Cause(ctx), err)
}
