package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// forwardStreams is how many streams of one session are read at its owner, and then at another gateway. Each of more streams
// also waits for the others' words.
const forwardStreams = 1

// cluster starts two gateways on one database.
func (s starter) cluster(ctx context.Context) (owner, other *server, err error) {
	s.config = filepath.Join(s.dir, "cluster.yaml")
	if err := os.WriteFile(s.config, []byte("cluster: {listen: \"127.0.0.1:0\"}\n"+settings), 0o600); err != nil {
		return nil, nil, fmt.Errorf("write the gateways' configuration: %w", err)
	}
	shared, err := os.MkdirTemp(s.dir, "cluster")
	if err != nil {
		return nil, nil, fmt.Errorf("prepare the gateways: %w", err)
	}
	s.shares = "bench_" + filepath.Base(shared)
	all, err := s.all(ctx, onPostgres, onPostgres)
	if err != nil {
		return nil, nil, err
	}
	return all[0], all[1], nil
}

// measureForward measures what it adds to a word that another gateway passes the stream on.
func (b *bencher) measureForward(ctx context.Context) error {
	if !b.start.has(onPostgres) {
		return nil
	}
	owner, other, err := b.start.cluster(ctx)
	if err != nil {
		return err
	}
	defer endAll([]*server{owner, other})
	for round := range b.scale.rounds {
		fmt.Fprintf(os.Stderr, "  %d stream at the owner and at another gateway, round %d\n", forwardStreams, round+1)
		id, err := relay{remote: owner}.session(ctx, sharedPace)
		if err != nil {
			return err
		}
		for _, at := range []struct {
			*server
			p50, p99 string
		}{{owner, ownLatency50, ownLatency99}, {other, forwardLatency50, forwardLatency99}} {
			read, err := readAlong(ctx, at.server, id, forwardStreams, load{window: b.scale.window})
			if err != nil {
				return errors.Join(err, owner.alive(), other.alive())
			}
			b.figures.add(at.p50, gateway, milliseconds(percentile(read.late, 50)))
			b.figures.add(at.p99, gateway, milliseconds(percentile(read.late, 99)))
		}
	}
	return passedOn(ctx, other, forwardStreams*b.scale.rounds)
}

// passedOn checks that a gateway has passed on so many requests: else its figures are those of an owner.
func passedOn(ctx context.Context, g *server, times int) error {
	passed, err := g.metric(ctx, "tributary_forwards_total")
	if err == nil && int(passed) < times {
		err = fmt.Errorf("%v of %d requests were passed on", passed, times)
	}
	return err
}
