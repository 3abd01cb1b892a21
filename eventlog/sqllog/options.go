package sqllog

import (
	"log/slog"
	"time"
)

// Defaults of Options.
const (
	defaultLease      = 15 * time.Second
	defaultIdle       = time.Minute
	defaultLinger     = 10 * time.Second
	defaultLiveBytes  = 4 << 20
	defaultTotalBytes = 128 << 20
	defaultPatience   = 10 * time.Second
	defaultOutage     = time.Minute
	defaultCheck      = 5 * time.Second
	defaultIndexDelay = 500 * time.Millisecond
)

// Options say where the log lives.
type Options struct {
	// Dir is the data directory. It holds the SQLite database, and the name by
	// which this gateway owns sessions.
	Dir string
	// URL is a PostgreSQL database (postgres://…) that is used instead of SQLite.
	URL string
	// NoSync lets SQLite acknowledge a record before the disk has it: the record
	// survives a crash of the process, and not of the machine.
	NoSync bool
	// Lease is how long a gateway owns its sessions on PostgreSQL without a sign of life
	// (15 s), unless others find before that its process is gone.
	Lease time.Duration
	// Idle is how long a gateway owns a session after its last use (1 min).
	Idle time.Duration
	// Linger is how long ephemeral records stay in memory after their turn (10 s).
	Linger time.Duration
	// LiveBytes bounds the records of one session in memory (4 MB), TotalBytes those of
	// all sessions (128 MB).
	LiveBytes, TotalBytes int
	// Patience is how long a lost connection is retried before an append fails
	// (10 s).
	Patience time.Duration
	// Outage is how long the same is tried for a turn that has begun, on PostgreSQL (1 min).
	Outage time.Duration
	// Logger gets what the store finds out.
	Logger *slog.Logger

	// shared lets several stores of a test use one SQLite database, as gateways use
	// one PostgreSQL.
	shared bool
	// check is how long the check of the SQLite file may take before the gateway starts without
	// its result (5 s).
	check time.Duration
	// indexDelay is how long the index of words waits for more changes (500 ms).
	indexDelay time.Duration
	// recovering has the inspection read all records without a pause, and remember all damage.
	recovering bool
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		value     *time.Duration
		byDefault time.Duration
	}{{&o.Lease, defaultLease}, {&o.Idle, defaultIdle}, {&o.Linger, defaultLinger}, {&o.Patience, defaultPatience}, {&o.Outage, defaultOutage}, {&o.check, defaultCheck}, {&o.indexDelay, defaultIndexDelay}} {
		if *d.value <= 0 {
			*d.value = d.byDefault
		}
	}
	if o.LiveBytes <= 0 {
		o.LiveBytes = defaultLiveBytes
	}
	if o.TotalBytes <= 0 {
		o.TotalBytes = defaultTotalBytes
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
