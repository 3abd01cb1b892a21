package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// warmStreams is how many silent streams a server has before its memory is first
// read, so that what it needs only once is not counted.
const warmStreams = 100

// calmTime is how long a server rests before its memory is read.
const calmTime = 2 * time.Second

// measureIdle is the memory of a stream that nothing is said on: one more that
// follows a turn, and one with a session and a turn of its own.
func (b *bencher) measureIdle(ctx context.Context) error {
	for _, c := range []struct {
		what   string
		name   string
		shared bool
	}{
		{idleStream, raw, false},
		{idleStream, gateway, true},
		{idleTurn, gateway, false},
	} {
		for round := range b.scale.idleRuns {
			fmt.Fprintf(os.Stderr, "  %s, round %d, %s\n", c.what, round+1, c.name)
			each, err := b.memoryPerStream(ctx, c.name, c.shared)
			if err != nil {
				return err
			}
			b.figures.add(c.what, c.name, each/1000)
		}
	}
	return nil
}

// memoryPerStream returns the memory of each of many silent streams, in bytes.
func (b *bencher) memoryPerStream(ctx context.Context, name string, shared bool) (float64, error) {
	s, err := b.start.server(ctx, name, "")
	if err != nil {
		return 0, err
	}
	defer s.Kill() // its turns would last for hours
	ctx, cancel := context.WithCancelCause(ctx)
	var wait sync.WaitGroup
	defer wait.Wait()
	defer cancel(nil)
	session := newSession()
	ended := errors.New("a silent stream ended")
	listen := func(n int) error {
		for i := range n {
			wait.Go(func() {
				var err error
				if shared && (n != warmStreams || i > 0) {
					_, err = s.follow(ctx, session)
				} else if shared {
					_, err = s.chat(ctx, request{session: session, words: 1, pace: time.Hour})
				} else {
					_, err = s.chat(ctx, request{session: newSession(), words: 1, pace: time.Hour})
				}
				cancel(errors.Join(ended, err))
			})
			gap := apart
			if shared && i == 0 {
				gap = settle // the turn must run before other clients can read it
			}
			if err := pause(ctx, gap); err != nil {
				return context.Cause(ctx)
			}
		}
		if err := pause(ctx, calmTime); err != nil {
			return context.Cause(ctx)
		}
		return nil
	}
	if err := listen(warmStreams); err != nil {
		return 0, err
	}
	before, err := s.memory()
	if err != nil {
		return 0, err
	}
	if err := listen(b.scale.idle); err != nil {
		return 0, err
	}
	after, err := s.memory()
	return float64(after-before) / float64(b.scale.idle), err
}
