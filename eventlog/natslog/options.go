package natslog

import (
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"time"
)

// Always as Options.Fsync syncs every append to disk before it is acknowledged.
const Always time.Duration = -1

// Defaults of Options.
const (
	defaultFsync      = 100 * time.Millisecond
	defaultKeep       = time.Hour
	defaultName       = "tributary"
	defaultMaxPayload = 1 << 20
	defaultLease      = 10 * time.Second
	defaultSessions   = 1024
	defaultIdle       = time.Minute
)

// Bounds of single operations. They are for a server that has gone away: on a
// healthy one nothing comes near them.
const (
	// startTimeout is for the embedded server to be ready; it may have to
	// rebuild the index of a large store.
	startTimeout = 2 * time.Minute
	// ackTimeout is for one message to be acknowledged. An append that has begun
	// is not cut short by its context, because nobody would know what landed.
	ackTimeout = 10 * time.Second
	// getTimeout is for one message to be read.
	getTimeout = 10 * time.Second
	// closeTimeout is for what is under way when the store closes.
	closeTimeout = 15 * time.Second
)

// Options say where the log lives. Dir or URL is required.
type Options struct {
	// Dir is the data directory of the embedded server.
	Dir string
	// URL is an external NATS server; user and password may be in it.
	URL string
	// Fsync is how often the embedded server syncs to disk (100 ms), or Always.
	Fsync time.Duration
	// Keep is how long provisional records are kept (1 h).
	Keep time.Duration
	// Name begins the names of streams and buckets ("tributary").
	Name string
	// MaxPayload is the embedded server's largest message (1 MB). Larger records
	// are split.
	MaxPayload int
	// Lease is how long an external NATS stays ours without a sign of life (10 s).
	Lease time.Duration
	// Sessions is how many sessions' places are kept in memory (1024), and Idle for how
	// long after their last use (1 min). Others are looked up again when they are used.
	Sessions int
	Idle     time.Duration
	// Logger gets the server's messages and what the store finds out.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Fsync == 0 {
		o.Fsync = defaultFsync
	}
	if o.Keep <= 0 {
		o.Keep = defaultKeep
	}
	if o.Name == "" {
		o.Name = defaultName
	}
	if o.MaxPayload <= 0 {
		o.MaxPayload = defaultMaxPayload
	}
	if o.Lease <= 0 {
		o.Lease = defaultLease
	}
	if o.Sessions <= 0 {
		o.Sessions = defaultSessions
	}
	if o.Idle <= 0 {
		o.Idle = defaultIdle
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// key is what stands for a session id in subjects and keys: 128 bits of its
// hash, which no id can leave and no two share.
func key(session string) string {
	const bytes = 16
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:bytes])
}
