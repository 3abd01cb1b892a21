package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tributary-dev/tributary/internal/pgtest"
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
	run  func(*bencher, context.Context) error
}

func parts() []part {
	return []part{
		{"load", (*bencher).measureLoad},
		{"speed", (*bencher).measureSpeed},
		{"first", (*bencher).measureFirst},
		{"follow", (*bencher).measureFollowers},
		{"stuck", (*bencher).measureStuck},
		{"idle", (*bencher).measureIdle},
		{"history", (*bencher).measureHistory},
		{"log", (*bencher).measureLog},
		{"list", (*bencher).measureList},
		{"relay", (*bencher).measureRelay},
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
	peer := flags.String("peer", "bench/peer", "the directory of the peer in Node.js; none leaves it out")
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
	began := time.Now()
	for _, p := range chosen {
		fmt.Fprintf(os.Stderr, "%s …\n", p.name)
		if err = p.run(b, ctx); err != nil {
			err = fmt.Errorf("measure %s: %w", p.name, err)
			break // what was measured until now is worth printing
		}
	}
	fmt.Println(machine(*peer))
	fmt.Println()
	fmt.Println(verdicts(b.figures))
	fmt.Println(details(b.figures))
	fmt.Printf("Measured in %s.\n", time.Since(began).Round(time.Second))
	return err
}

func partNames() string {
	var names []string
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return strings.Join(names, ",")
}

// choose finds the parts with the given names; none means all.
func choose(names string) ([]part, error) {
	all := parts()
	if names == "" {
		return all, nil
	}
	var chosen []part
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(p part) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no part %q: name some of %s", name, partNames())
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
