package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// paged is the session whose history is read while streams are measured. The session has pagedTurns
// turns.
const (
	paged      = "bench-paged"
	pagedTurns = 100
)

// The intervals of the work beside a load.
const (
	endEvery  = 200 * time.Millisecond
	cutEvery  = 500 * time.Millisecond
	pageEvery = 200 * time.Millisecond
)

// fillPages gives the gateways a history to read.
func fillPages(ctx context.Context, servers []*server) error {
	for _, s := range servers {
		if s.Token() == "" { // not a gateway
			continue
		}
		for range pagedTurns {
			if _, err := s.chat(ctx, request{session: paged, words: 3}); err != nil {
				return fmt.Errorf("fill a session with %d turns: %w", pagedTurns, err)
			}
		}
	}
	return nil
}

// backgroundWork does the usual work beside the measured streams: turns begin and end, connections are cut,
// histories are read.
func backgroundWork(ctx context.Context, s *server) error {
	var wait sync.WaitGroup
	var faults [3]error
	wait.Go(func() {
		faults[0] = every(ctx, endEvery, func() error {
			_, err := s.chat(ctx, request{session: newSession(), words: 3})
			return err
		})
	})
	wait.Go(func() {
		faults[1] = every(ctx, cutEvery, func() error {
			cut, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
			defer cancel()
			if _, err := s.chat(cut, request{session: newSession(), words: 50, pace: 20 * time.Millisecond}); cut.Err() == nil {
				return err
			}
			return nil
		})
	})
	wait.Go(func() {
		faults[2] = every(ctx, pageEvery, func() error {
			_, _, err := s.get(ctx, "/api/sessions/"+paged+"/messages?limit=100")
			return err
		})
	})
	wait.Wait()
	return errors.Join(faults[:]...)
}

// every calls do in regular intervals until the context ends. An error after that does not count.
func every(ctx context.Context, interval time.Duration, do func() error) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := do(); err != nil && ctx.Err() == nil {
			return err
		}
	}
}
