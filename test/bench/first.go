package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

// probeEvery is how often a stream is begun to see how long its first byte takes.
const probeEvery = 20 * time.Millisecond

// measureFirst measures the time from a POST to the first byte of its answer, while a hundred other
// streams run. One POST begins a new session, the other a second turn.
func (b *bencher) measureFirst(ctx context.Context) error {
	servers, err := b.start.all(ctx, gateway, raw, peer, unsynced, onPostgres)
	if err != nil {
		return err
	}
	defer endAll(servers)
	for _, streams := range b.scale.loads {
		all := map[string]*firsts{}
		for round := range b.scale.rounds {
			for _, s := range servers {
				fmt.Fprintf(os.Stderr, "  %d streams, round %d, %s\n", streams, round+1, s.name)
				if all[s.name] == nil {
					all[s.name] = &firsts{}
				}
				l := load{streams: streams, pace: paceFor(streams), window: b.scale.window, background: all[s.name].probe}
				if _, err := l.run(ctx, s); err != nil {
					return err
				}
			}
		}
		// A round has too few of them for a 99th percentile of its own.
		for name, f := range all {
			b.figures.add(first50(streams), name, milliseconds(percentile(f.fresh, 50)))
			b.figures.add(first99(streams), name, milliseconds(percentile(f.fresh, 99)))
			b.figures.add(next99(streams), name, milliseconds(percentile(f.next, 99)))
		}
	}
	return nil
}

// firsts are times to the first byte: of the first turn of a session, and of its
// second.
type firsts struct{ fresh, next []time.Duration }

func (f *firsts) probe(ctx context.Context, s *server) error {
	return every(ctx, probeEvery, func() error {
		session := newSession()
		for _, times := range []*[]time.Duration{&f.fresh, &f.next} {
			h, err := s.chat(ctx, request{session: session, words: 1})
			if err != nil {
				return err
			}
			*times = append(*times, h.first)
		}
		return nil
	})
}
