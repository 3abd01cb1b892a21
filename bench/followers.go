package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// followPace is the pace of a turn that very many follow.
const followPace = 100 * time.Millisecond

// measureFollowers lets a thousand clients follow one turn. The raw server does
// the same with frames that are encoded already.
func (b *bencher) measureFollowers(ctx context.Context) error {
	servers, err := b.start.all(ctx, gateway, raw)
	if err != nil {
		return err
	}
	defer endAll(servers)
	for round := range b.scale.rounds {
		for _, s := range servers {
			fmt.Fprintf(os.Stderr, "  round %d, %s\n", round+1, s.name)
			r, err := crowd(ctx, s, newSession(), b.scale.followers, load{window: b.scale.window})
			if err != nil {
				return errors.Join(err, s.alive())
			}
			b.figures.add(cpuFollower, s.name, microseconds(r.cpu)/float64(r.frames))
			b.figures.add(followLatency, s.name, milliseconds(percentile(r.late, 99)))
		}
	}
	return nil
}

// crowd is one who asks and many who follow, watched as the load says.
func crowd(ctx context.Context, s *server, session string, followers int, l load) (loudness, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	words := int((time.Duration(followers)*apart+2*settle+l.window+settle)/followPace) + 5
	all := make([]heard, followers)
	var wait sync.WaitGroup
	listen := func(i int, hear func() (heard, error)) {
		wait.Go(func() {
			var err error
			if all[i], err = hear(); err != nil {
				cancel(err)
			}
		})
	}
	listen(0, func() (heard, error) {
		return s.chat(ctx, ask{session: session, words: words, pace: followPace, shared: true})
	})
	_ = rest(ctx, settle)
	for i := 1; i < followers && ctx.Err() == nil; i++ {
		listen(i, func() (heard, error) { return s.follow(ctx, session) })
		_ = rest(ctx, apart)
	}
	var result loudness
	from, to, err := l.watch(ctx, s, &result)
	wait.Wait()
	if err = errors.Join(context.Cause(ctx), err); err != nil {
		return loudness{}, err
	}
	for i, h := range all {
		if len(h.words) != words {
			return loudness{}, fmt.Errorf("follower %d of %s heard %d words of %d", i, s.name, len(h.words), words)
		}
		for _, w := range h.words {
			if w.at.After(from) && w.at.Before(to) {
				result.frames++
				result.late = append(result.late, w.late)
			}
		}
	}
	return result, nil
}
