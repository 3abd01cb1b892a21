package natslog

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tributary-dev/tributary/eventlog"
)

// Store is an eventlog.Store on NATS. Open makes one.
type Store struct {
	opts    Options
	lock    *os.File       // of the data directory, nil for an external NATS
	server  *server.Server // embedded, nil for an external NATS
	conn    *nats.Conn     // for writing
	reads   *nats.Conn     // for reading, so that a long read does not delay appends
	js      jetstream.JetStream
	wholes  string // name of the stream
	deltas  string // name of the stream
	docs    jetstream.KeyValue
	notes   *notes
	lease   *lease
	revival revival
	epoch   string

	closing  chan struct{}  // closed when Close begins
	noting   chan struct{}  // closed when nothing is noted any more
	running  sync.WaitGroup // operations that Close waits for
	closer   sync.Once
	closeErr error

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session
	recent   *list.List // of *session, the last used in front
	damaged  map[string]string
}

var _ eventlog.Store = (*Store)(nil)

// errClosing is what ends operations that Close cuts short.
var errClosing = errors.New("closing")

// Epoch implements eventlog.Store.
func (s *Store) Epoch() string { return s.epoch }

// Last implements eventlog.Store.
func (s *Store) Last(ctx context.Context, id string) (uint64, error) {
	se, err := s.acquire(ctx, id)
	if err != nil {
		return 0, err
	}
	defer s.release(se)
	se.mu.Lock()
	defer se.mu.Unlock()
	return se.last, nil
}

// begin registers an operation that Close waits for.
func (s *Store) begin() (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, eventlog.ErrClosed
	}
	s.running.Add(1)
	return s.running.Done, nil
}

func (s *Store) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// failure is the one place where errors leave the package: in a closed store
// everything fails for one reason.
func (s *Store) failure(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case s.isClosed():
		return eventlog.ErrClosed
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), isDamage(err):
		return err
	default:
		return fmt.Errorf("%s: %w", what, err)
	}
}

func (s *Store) maxPayload() int { return int(s.conn.MaxPayload()) }

// tend writes notes, and forgets what nobody uses, until the store closes.
func (s *Store) tend() {
	defer close(s.noting)
	tick := time.NewTicker(noteEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.closing:
			return
		case <-tick.C:
			ctx, cancel := context.WithTimeout(context.Background(), ackTimeout)
			if err := s.notes.flush(ctx); err != nil && !s.isClosed() {
				s.opts.Logger.Warn("the event log could not take notes, it will try again", "error", err)
			}
			cancel()
			s.evictIdle(time.Now())
		}
	}
}

// Close implements eventlog.Store: first no more operations, then the notes, the
// client, and last the server.
func (s *Store) Close() error {
	s.closer.Do(func() {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		close(s.closing)
		s.closeErr = s.shutDown()
	})
	return s.closeErr
}

func (s *Store) shutDown() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	quiet := make(chan struct{})
	go func() {
		defer close(quiet)
		s.running.Wait()
	}()
	<-s.noting
	var err error
	select {
	case <-quiet:
		err = s.farewell(ctx)
	case <-ctx.Done():
		err = fmt.Errorf("operations of the event log did not end within %v", closeTimeout)
	}
	s.conn.Close()
	s.reads.Close()
	<-quiet // without a connection they end
	s.letGo()
	if err != nil {
		return fmt.Errorf("close the event log: %w", err)
	}
	return nil
}

// farewell leaves the store as the next one to open it wants to find it.
func (s *Store) farewell(ctx context.Context) error {
	if s.lease.check() != nil {
		return nil //nolint:nilerr // somebody else's by now; appends have said so
	}
	if err := s.notes.flush(ctx); err != nil {
		return err
	}
	if _, err := s.notes.kv.Put(ctx, cleanKey, []byte(s.epoch)); err != nil {
		return fmt.Errorf("note that all is well: %w", err)
	}
	return s.lease.release(ctx)
}
