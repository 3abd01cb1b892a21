package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/pgtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := run(ctx, os.Args[1:])
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "endurance:", err)
		os.Exit(2)
	case !ok:
		os.Exit(1)
	}
}

// sizes say how much of everything is tried.
type sizes struct {
	rounds, perStore, clients int
	postgresRounds            int
	cuts                      int
	judged, judgedKills       int
	turns                     int
	races                     int
	faults                    int
	outages, failovers        int             // of PostgreSQL
	seconds                   int             // second gateways
	clusters, leases          int             // two gateways on one database, and cuts from it beyond the lease
	deaths                    int             // of a gateway beside another one
	full                      int             // full disks of each kind
	sleeps                    int             // of a gateway beyond its lease
	interruptions             int             // of one of three gateways, within a lease
	longest                   time.Duration   // of these
	stops                     []time.Duration // for so long the process is stopped
	steady                    time.Duration   // how long a gateway at rest gets no smaller, before its baseline is taken
}

func full() sizes {
	return sizes{
		rounds: 1000, perStore: 100, postgresRounds: 200, clients: 8, cuts: 10_000, judged: 2000, judgedKills: 20,
		turns: 100_000, races: 10_000, faults: 2,
		outages: 20, failovers: 20, seconds: 20, clusters: 10, leases: 4, deaths: 100, full: 5, sleeps: 3, interruptions: 110, longest: 8 * time.Second, stops: longStops(), steady: 85 * time.Second, // a gateway at rest gives memory back a second time after up to 80
	}
}

// quick is what a test run has time for.
func quick() sizes {
	return sizes{
		rounds: 12, perStore: 6, postgresRounds: 6, clients: 8, cuts: 300, judged: 0, turns: 1000, faults: 0,
		outages: 2, failovers: 1, seconds: 3, clusters: 1, leases: 1, deaths: 2, full: 1, interruptions: 6, longest: 2 * time.Second, stops: []time.Duration{time.Second, 2 * time.Second}, steady: 35 * time.Second, // for the first time after up to 30
	}
}

// longStops are for how long the gateway is stopped in a full run.
func longStops() []time.Duration {
	var all []time.Duration
	for _, seconds := range []int{1, 2, 3, 5, 8, 12, 20, 30} {
		all = append(all, time.Duration(seconds)*time.Second)
	}
	return all
}

func run(ctx context.Context, args []string) (ok bool, err error) {
	small := false
	for _, a := range args { // the sizes' defaults depend on it
		small = small || a == "-quick" || a == "--quick"
	}
	n := full()
	if small {
		n = quick()
	}
	flags := flag.NewFlagSet("endurance", flag.ContinueOnError)
	flags.Bool("quick", false, "small sizes, some three minutes")
	binary := flags.String("binary", "bin/tributary", "the gateway")
	root := flags.String("root", ".", "the project, for the clients' own readers and the tests of faults")
	only := flags.String("only", "", "only these rows: kills, postgres-kills, cuts, judged, turns, races, outages, failovers, second, rivals, beside, stale, owners, upgrade, deaths, leases, full, read-only, sleeps, interruptions, stops, faults")
	flags.IntVar(&n.rounds, "kills", n.rounds, "how often the gateway is killed under load and started again")
	flags.IntVar(&n.perStore, "per-store", n.perStore, "after how many of these a new data directory is begun")
	flags.IntVar(&n.postgresRounds, "postgres-kills", n.postgresRounds, "the same with the log in PostgreSQL (needs PostgreSQL); 0: never")
	flags.IntVar(&n.clients, "clients", n.clients, "clients at the same time while it is killed")
	flags.IntVar(&n.cuts, "cuts", n.cuts, "streams that are cut, resumed and compared byte by byte")
	flags.IntVar(&n.judged, "judged", n.judged, "cuts that the clients' own readers judge (needs Node.js); 0: none")
	flags.IntVar(&n.judgedKills, "judged-kills", n.judgedKills, "kills among those")
	flags.IntVar(&n.turns, "turns", n.turns, "turns of the demo agent before what is left of them is counted")
	flags.IntVar(&n.races, "races", n.races, "how often eight answers race for one request (needs Go); 0: never")
	flags.IntVar(&n.outages, "outages", n.outages, "how often PostgreSQL is killed under load (needs PostgreSQL); 0: never")
	flags.IntVar(&n.failovers, "failovers", n.failovers, "how often PostgreSQL loses what it has confirmed (needs PostgreSQL); 0: never")
	flags.IntVar(&n.seconds, "seconds", n.seconds, "how often a second gateway tries to use the first one's sessions; 0: never")
	flags.IntVar(&n.clusters, "clusters", n.clusters, "how often each row with two gateways on one PostgreSQL is tried; 0: never")
	flags.IntVar(&n.leases, "leases", n.leases, "how often a gateway is cut off from PostgreSQL beyond its lease; 0: never")
	flags.IntVar(&n.deaths, "deaths", n.deaths, "how often a gateway is killed beside another one, which takes its session; 0: never")
	flags.IntVar(&n.full, "full", n.full, "how often the disk is full and the database read-only (needs Linux, and root for all of it); 0: never")
	flags.IntVar(&n.sleeps, "sleeps", n.sleeps, "how often the gateway is stopped for longer than its lease (needs Linux and PostgreSQL); 0: never")
	flags.IntVar(&n.interruptions, "interruptions", n.interruptions, "how often one of three gateways is paused or cut off for a while (needs Linux and PostgreSQL); 0: never")
	stops := flags.Bool("stops", true, "stop the gateway's process for some seconds (needs Linux)")
	flags.IntVar(&n.faults, "faults", n.faults, "how often each test of a fault is run (needs Go); 0: never")
	if err := flags.Parse(args); err != nil {
		return false, fmt.Errorf("read the arguments: %w", err)
	}
	if !*stops {
		n.stops = nil
	}
	b, err := newBench(*binary, *root)
	if err != nil {
		return false, err
	}
	defer b.remove()
	return b.table(ctx, n, *only)
}

// bench holds what all trials share: the binary, a temporary directory, and PostgreSQL.
type bench struct {
	binary, root, dir string
	running           []*gateway
	postgres          pgtest.Server
}

func newBench(binary, root string) (*bench, error) {
	b := &bench{}
	var err error
	if b.binary, err = filepath.Abs(binary); err != nil {
		return nil, fmt.Errorf("find the gateway: %w", err)
	}
	if _, err := os.Stat(b.binary); err != nil {
		return nil, fmt.Errorf("the gateway is missing, build it with make binary: %w", err)
	}
	if b.root, err = filepath.Abs(root); err != nil {
		return nil, fmt.Errorf("find the project: %w", err)
	}
	if b.dir, err = os.MkdirTemp("", "tributary-endurance-"); err != nil {
		return nil, fmt.Errorf("make a directory to work in: %w", err)
	}
	return b, nil
}

// remove ends the gateways that an error has left running, and removes the directory.
func (b *bench) remove() {
	for _, g := range b.running {
		g.kill()
	}
	b.postgres.Stop()
	_ = os.RemoveAll(b.dir)
}

// errSkipped says that a trial cannot run on this machine.
var errSkipped = errors.New("this cannot be tried here")

// trial is one row of the table in the making.
type trial struct {
	name string
	what string
	runs bool
	do   func(context.Context, *results) error
}

// singleFaults is the name of the rows that faults makes.
const singleFaults = "faults"

// table runs the rows with these names, or all of them, and writes the table. ok reports whether all
// rows are clean.
func (b *bench) table(ctx context.Context, n sizes, only string) (ok bool, err error) {
	began := time.Now()
	rows, err := b.rows(ctx, n, only)
	write(os.Stdout, rows, time.Since(began)) // after an error, too: the counts until then are good
	return err == nil && !slices.ContainsFunc(rows, func(r row) bool { return !r.clean() }), err
}

func (b *bench) rows(ctx context.Context, n sizes, only string) (rows []row, err error) {
	all, names := b.trials(n), strings.Split(only, ",")
	for _, name := range names {
		if only != "" && name != singleFaults && !slices.ContainsFunc(all, func(t trial) bool { return t.name == name }) {
			return nil, fmt.Errorf("there is no row %q", name)
		}
	}
	wanted := func(name string) bool { return only == "" || slices.Contains(names, name) }
	for _, t := range all {
		if !t.runs || !wanted(t.name) {
			continue
		}
		r, err := measure(ctx, t)
		if errors.Is(err, errSkipped) || errors.Is(err, pgtest.ErrMissing) && os.Getenv("CI") == "" {
			progress("left out: %v", err)
			continue
		}
		rows = append(rows, r)
		if err != nil {
			return rows, err
		}
	}
	if n.faults == 0 || !wanted(singleFaults) {
		return rows, nil
	}
	more, err := b.faults(ctx, n.faults)
	return append(rows, more...), err
}

// trials are the rows in the order of the table.
func (b *bench) trials(n sizes) []trial {
	return append([]trial{
		{"kills", "kill -9 under load, and start again", n.rounds > 0, func(ctx context.Context, c *results) error { return b.restarts(ctx, b.onSQLite, n.rounds, n, c) }},
		{"postgres-kills", "the same with the log in PostgreSQL", n.postgresRounds > 0, func(ctx context.Context, c *results) error {
			return b.restarts(ctx, b.onPostgres, n.postgresRounds, n, c)
		}},
		{"cuts", "streams cut at random, and resumed", n.cuts > 0, func(ctx context.Context, c *results) error { return b.cuts(ctx, n.cuts, c) }},
		{"judged", "the same, judged by the clients' readers", n.judged > 0, func(ctx context.Context, c *results) error { return b.judged(ctx, n, c) }},
		{"turns", "turns, and what is left of them", n.turns > 0, func(ctx context.Context, c *results) error { return b.turns(ctx, n.turns, n.steady, c) }},
		{"races", "eight answers that race for one request", n.races > 0, func(ctx context.Context, c *results) error { return b.races(ctx, n.races, c) }},
		{"outages", "PostgreSQL killed under load, and started again", n.outages > 0, func(ctx context.Context, c *results) error { return b.outages(ctx, n.outages, c) }},
		{"failovers", "PostgreSQL without its newest commits", n.failovers > 0, func(ctx context.Context, c *results) error { return b.failovers(ctx, n.failovers, c) }},
		{"second", "a second gateway on the data directory", n.seconds > 0, func(ctx context.Context, c *results) error { return b.seconds(ctx, n.seconds, c) }},
		{"rivals", "a second gateway on the sessions, PostgreSQL", n.seconds > 0, func(ctx context.Context, c *results) error { return b.rivals(ctx, 10*n.seconds, c) }},
	}, append(b.clusterTrials(n), b.systemTrials(n)...)...)
}

func measure(ctx context.Context, t trial) (row, error) {
	began := time.Now()
	progress("%s …", t.what)
	c := &results{}
	err := t.do(ctx, c)
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("%s: it was interrupted", t.what)
	case err != nil:
		err = fmt.Errorf("%s: %w", t.what, err)
	}
	return c.row(t.what, time.Since(began)), err
}

// progress writes a line of progress to standard error.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s  %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
