package natslog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// revival brings the embedded server back after its disk was full. A stream of
// NATS that could not be written takes no write ever after, and says so to
// nobody: acknowledgements just do not come. It has to be opened anew.
type revival struct {
	mu     sync.Mutex
	needed bool // a write was not acknowledged
}

// suspect notes what a failed write says about the embedded server.
func (s *Store) suspect(err error) {
	silent := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) ||
		errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrNoStreamResponse)
	if s.server == nil || !silent {
		return
	}
	s.revival.mu.Lock()
	defer s.revival.mu.Unlock()
	s.revival.needed = true
}

// revive goes before each write. If the one before was not acknowledged it looks
// whether the disk takes anything, so that nobody waits in vain for what it does
// not, and opens the server's streams anew as soon as it does.
func (s *Store) revive() error {
	s.revival.mu.Lock()
	defer s.revival.mu.Unlock()
	if !s.revival.needed {
		return nil
	}
	if err := probe(s.opts.Dir); err != nil {
		return fmt.Errorf("the disk of the event log takes no writes: %w", err)
	}
	s.opts.Logger.Warn("the event log was not written: the embedded NATS server opens its streams anew")
	if err := s.server.ShutdownJetStream(); err != nil {
		return fmt.Errorf("close the streams of the embedded NATS server: %w", err)
	}
	if err := s.server.EnableJetStream(streamConfig(s.opts)); err != nil {
		return fmt.Errorf("open the streams of the embedded NATS server anew: %w", err)
	}
	s.revival.needed = false
	return nil
}

// streamConfig is what the server itself makes of its options at its start.
func streamConfig(o Options) *server.JetStreamConfig {
	so := serverOptions(o)
	return &server.JetStreamConfig{
		StoreDir: so.StoreDir, SyncInterval: so.SyncInterval, SyncAlways: so.SyncAlways,
		Strict: !so.NoJetStreamStrict, CompressOK: true,
	}
}

// probe writes something and takes it away again: more than a block of the file
// system, and more than the server needs to open its streams.
func probe(dir string) error {
	name := filepath.Join(dir, ".room")
	defer os.Remove(name)
	return os.WriteFile(name, make([]byte, 1<<20), 0o600)
}
