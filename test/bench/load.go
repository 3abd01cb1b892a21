package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// load describes clients of one server that read streams at the same time.
type load struct {
	streams    int
	pace       time.Duration // before each word
	window     time.Duration // the time of the measurement, once all streams run
	background func(context.Context, *server) error
}

// paceFor is the pace of so many streams: 5,000 words a second, or 50 of each,
// whichever is less.
func paceFor(streams int) time.Duration {
	return max(20*time.Millisecond, time.Duration(streams)*time.Second/5000)
}

// Times around the window of a load.
const (
	settle = 400 * time.Millisecond // from the first words to the window
	apart  = 2 * time.Millisecond   // at least, between two beginnings
)

// loadResult is the result of a load.
type loadResult struct {
	words int           // that came in the window
	cpu   time.Duration // the server's processor time in the window
	late  []time.Duration
}

// streamSet holds the streams of a running load.
type streamSet struct {
	sessions []string
	received []received
	faults   []error
	wait     sync.WaitGroup
	begun    sync.WaitGroup
	cut      context.CancelFunc
}

// run starts the streams one after the other, so that their words don't come all
// at once, and watches the server while all of them run.
func (l load) run(ctx context.Context, s *server) (loadResult, error) {
	c := l.start(ctx, s)
	var result loadResult
	from, to, err := l.watch(ctx, s, &result)
	if err := errors.Join(err, c.end(ctx, s), s.alive()); err != nil {
		return loadResult{}, err
	}
	for _, h := range c.received {
		for _, w := range h.words {
			if w.at.After(from) && w.at.Before(to) {
				result.words++
				result.late = append(result.late, w.late)
			}
		}
	}
	if result.words == 0 {
		return loadResult{}, fmt.Errorf("%s sent no word for %s", s.name, l.window)
	}
	return result, nil
}

// start starts the streams and waits for the first word of each.
func (l load) start(ctx context.Context, s *server) *streamSet {
	c := &streamSet{received: make([]received, l.streams), faults: make([]error, l.streams)}
	ctx, c.cut = context.WithCancel(ctx)
	for i := range l.streams {
		session := newSession()
		c.sessions = append(c.sessions, session)
		c.begun.Add(1)
		begun := sync.OnceFunc(c.begun.Done)
		c.wait.Go(func() {
			defer begun()
			c.received[i], c.faults[i] = s.chat(ctx, request{session: session, words: endless, pace: l.pace, begun: begun})
		})
		_ = pause(ctx, apart+l.pace/time.Duration(l.streams))
	}
	c.begun.Wait()
	return c
}

// end ends the streams. A gateway gets a stop for each turn, because only a stop ends a turn at once.
// The other servers end a stream when its client disconnects.
func (c *streamSet) end(ctx context.Context, s *server) error {
	var fault error
	if s.Token() == "" {
		c.cut()
	}
	for _, session := range c.sessions {
		fault = errors.Join(fault, s.stop(ctx, session))
	}
	if fault != nil {
		c.cut()
	}
	c.wait.Wait()
	c.cut()
	for _, err := range c.faults {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return fault
}

// watch waits for the end of the window and measures the processor time.
func (l load) watch(ctx context.Context, s *server, result *loadResult) (from, to time.Time, err error) {
	if err := pause(ctx, settle); err != nil {
		return from, to, err
	}
	before, err := s.cpu()
	if err != nil {
		return from, to, err
	}
	from = time.Now()
	if l.background == nil {
		err = pause(ctx, l.window)
	} else {
		within, cancel := context.WithTimeout(ctx, l.window)
		err = l.background(within, s)
		cancel()
	}
	to = time.Now()
	after, fault := s.cpu()
	result.cpu = after - before
	return from, to, errors.Join(err, fault)
}

// measureLoad measures the latency and the processor time of a word, at three sizes. Meanwhile other
// turns end or are cut, and other clients read histories.
func (b *bencher) measureLoad(ctx context.Context) error {
	servers, err := b.start.all(ctx, gateway, raw, peer, unsynced, onPostgres)
	if err != nil {
		return err
	}
	defer endAll(servers)
	if err := fillPages(ctx, servers); err != nil {
		return err
	}
	for _, streams := range b.scale.loads {
		l := load{streams: streams, pace: paceFor(streams), window: b.scale.window, background: backgroundWork}
		for round := range b.scale.rounds {
			for _, s := range servers {
				fmt.Fprintf(os.Stderr, "  %d streams, round %d, %s\n", l.streams, round+1, s.name)
				r, err := l.run(ctx, s)
				if err != nil {
					return err
				}
				b.figures.add(latency50(l.streams), s.name, milliseconds(percentile(r.late, 50)))
				b.figures.add(latency99(l.streams), s.name, milliseconds(percentile(r.late, 99)))
			}
		}
	}
	quiet := load{streams: 100, pace: 20 * time.Millisecond, window: b.scale.window}
	for round := range b.scale.rounds {
		for _, s := range servers {
			fmt.Fprintf(os.Stderr, "  processor time, round %d, %s\n", round+1, s.name)
			r, err := quiet.run(ctx, s)
			if err != nil {
				return err
			}
			b.figures.add(cpuPaced, s.name, microseconds(r.cpu)/float64(r.words))
		}
	}
	return nil
}
