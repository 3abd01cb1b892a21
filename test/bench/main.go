package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/pgtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if len(os.Args) > 1 && os.Args[1] == rawCommand {
		err = serveRaw(ctx)
	} else {
		err = bench(ctx, os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1) //nolint:gocritic // nothing is left to do
	}
}

// part is a part of the measurement.
type part struct {
	name string
	// counts: the part counts bytes and what is left behind. Such parts wait more than
	// they work, so they run side by side, after all that take times.
	counts bool
	run    func(*bencher, context.Context) error
}

func parts() []part {
	return []part{
		{name: "load", run: (*bencher).measureLoad},
		{name: "speed", run: (*bencher).measureSpeed},
		{name: "first", run: (*bencher).measureFirst},
		{name: "subscribers", run: (*bencher).measureSubscribers},
		{name: "stuck", run: (*bencher).measureStalled},
		{name: "export", run: (*bencher).measureExport},
		{name: "idle", run: (*bencher).measureIdle},
		{name: "history", run: (*bencher).measureHistory},
		{name: "list", run: (*bencher).measureList},
		{name: "relay", run: (*bencher).measureRelay},
		{name: "forward", run: (*bencher).measureForward},
		{name: "box", run: (*bencher).measureBox},
		{name: "crash", run: (*bencher).measureCrash},
		{name: "log", counts: true, run: (*bencher).measureLog},
		{name: "relay", counts: true, run: (*bencher).measureRow},
		{name: "turns", counts: true, run: (*bencher).measureTurns},
	}
}

// bencher is one run.
type bencher struct {
	scale   scale
	start   starter
	figures figures
}

func bench(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	quick := flags.Bool("quick", false, "fewer and shorter rounds, and a smaller history")
	binary := flags.String("binary", "bin/tributary", "the gateway to measure")
	peer := flags.String("peer", "test/bench/peer", "the directory of the peer in Node.js; none leaves it out")
	postgres := flags.Bool("postgres", true, "measure the gateway with its log in PostgreSQL too, if this machine has it")
	only := flags.String("only", "", "measure these parts only: "+partNames())
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	if err := raiseFileLimit(filesNeeded); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "tributary-bench")
	if err != nil {
		return fmt.Errorf("make a directory for the gateways' data: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a directory for temporary files
	b := &bencher{scale: full(), start: starter{binary: *binary, peer: *peer, dir: dir}, figures: figures{}}
	if *postgres {
		server := &pgtest.Server{Synced: true}
		defer server.Stop()
		if err := server.Make("bench"); err == nil {
			b.start.postgres = server
		} else if !errors.Is(err, pgtest.ErrMissing) {
			return err
		}
	}
	if *quick {
		b.scale = quickly()
	}
	if err := b.start.prepare(); err != nil {
		return err
	}
	began := time.Now()
	err = b.measure(ctx, chosen)
	fmt.Println(machine(*peer)) // also after an error: what was measured until then is worth printing
	fmt.Println()
	fmt.Println(table(b.figures))
	fmt.Printf("Measured in %s.\n", time.Since(began).Round(time.Second))
	return err
}

// measure runs the parts that take times one after the other, and then those that count.
func (b *bencher) measure(ctx context.Context, chosen []part) error {
	var beside []part
	for _, p := range chosen {
		if p.counts {
			beside = append(beside, p)
		} else if err := b.part(ctx, p); err != nil {
			return err
		}
	}
	own, faults := make([]bencher, len(beside)), make([]error, len(beside))
	var wait sync.WaitGroup
	for i, p := range beside {
		own[i] = bencher{scale: b.scale, start: b.start, figures: figures{}}
		wait.Go(func() { faults[i] = own[i].part(ctx, p) })
	}
	wait.Wait()
	for _, o := range own {
		maps.Copy(b.figures, o.figures)
	}
	return errors.Join(faults...)
}

func (b *bencher) part(ctx context.Context, p part) error {
	began := time.Now()
	fmt.Fprintf(os.Stderr, "%s …\n", p.name)
	if err := p.run(b, ctx); err != nil {
		return fmt.Errorf("measure %s: %w", p.name, err)
	}
	fmt.Fprintf(os.Stderr, "%s took %s\n", p.name, time.Since(began).Round(time.Second))
	return nil
}

func partNames() string {
	var names []string
	for _, p := range parts() {
		if !slices.Contains(names, p.name) {
			names = append(names, p.name)
		}
	}
	return strings.Join(names, ",")
}

// choose finds the parts with the given names; none means all.
func choose(names string) ([]part, error) {
	all := parts()
	if names == "" {
		return all, nil
	}
	wanted := strings.Split(names, ",")
	for _, name := range wanted {
		if !slices.ContainsFunc(all, func(p part) bool { return p.name == name }) {
			return nil, fmt.Errorf("there is no part %q: name some of %s", name, partNames())
		}
	}
	return slices.DeleteFunc(all, func(p part) bool { return !slices.Contains(wanted, p.name) }), nil
}
