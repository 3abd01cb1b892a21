package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// sharedPace is the pace of a turn that very many clients read.
const sharedPace = 100 * time.Millisecond

// measureSubscribers has a thousand clients read one turn. The raw server does
// the same with frames that are encoded already.
func (b *bencher) measureSubscribers(ctx context.Context) error {
	servers, err := b.start.all(ctx, gateway, raw)
	if err != nil {
		return err
	}
	defer endAll(servers)
	for round := range b.scale.rounds {
		for _, s := range servers {
			fmt.Fprintf(os.Stderr, "  round %d, %s\n", round+1, s.name)
			r, err := readAlong(ctx, s, newSession(), b.scale.subscribers, load{window: b.scale.window})
			if err != nil {
				return errors.Join(err, s.alive())
			}
			b.figures.add(cpuSubscriber, s.name, microseconds(r.cpu)/float64(r.words))
			b.figures.add(sharedLatency, s.name, milliseconds(percentile(r.late, 99)))
		}
	}
	return nil
}

// readAlong runs one client that prompts and many that read along, and measures the load.
func readAlong(ctx context.Context, s *server, session string, subscribers int, l load) (loadResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	words := int((time.Duration(subscribers)*apart+2*settle+l.window+settle)/sharedPace) + 5
	all := make([]received, subscribers)
	var wait sync.WaitGroup
	listen := func(i int, hear func() (received, error)) {
		wait.Go(func() {
			var err error
			if all[i], err = hear(); err != nil {
				cancel(err)
			}
		})
	}
	listen(0, func() (received, error) {
		return s.chat(ctx, request{session: session, words: words, pace: sharedPace, shared: true})
	})
	_ = pause(ctx, settle)
	for i := 1; i < subscribers && ctx.Err() == nil; i++ {
		listen(i, func() (received, error) { return s.follow(ctx, session) })
		_ = pause(ctx, apart)
	}
	var result loadResult
	from, to, err := l.watch(ctx, s, &result)
	wait.Wait()
	if err = errors.Join(context.Cause(ctx), err); err != nil {
		return loadResult{}, err
	}
	for i, h := range all {
		if len(h.words) != words {
			return loadResult{}, fmt.Errorf("subscriber %d of %s read %d words of %d", i, s.name, len(h.words), words)
		}
		for _, w := range h.words {
			if w.at.After(from) && w.at.Before(to) {
				result.words++
				result.late = append(result.late, w.late)
			}
		}
	}
	return result, nil
}
