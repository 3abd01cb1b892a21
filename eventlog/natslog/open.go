package natslog

import (
	"container/list"
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Keys of the bucket of notes that are not a session's.
const (
	epochKey = "epoch"
	cleanKey = "clean"
)

// Open opens the log, and makes it if there is none. If somebody else uses it the
// error is an eventlog.HeldError.
func Open(ctx context.Context, o Options) (*Store, error) {
	if (o.Dir == "") == (o.URL == "") {
		return nil, errors.New("open the event log: give either a data directory or the URL of a NATS server")
	}
	o = o.withDefaults()
	s := &Store{
		opts: o, wholes: o.Name + "_wholes", deltas: o.Name + "_provisional",
		closing: make(chan struct{}), noting: make(chan struct{}),
		sessions: map[string]*session{}, recent: list.New(), damaged: map[string]string{},
	}
	if err := s.start(ctx); err != nil {
		s.abandon(ctx)
		return nil, fmt.Errorf("open the event log: %w", err)
	}
	go s.tend() //nolint:gosec,contextcheck // not for this call but for the life of the store: Close waits for it
	return s, nil
}

func (s *Store) start(ctx context.Context) (err error) {
	if s.opts.Dir != "" {
		if s.lock, err = lockDir(s.opts.Dir); err != nil {
			return err
		}
		if s.server, err = startServer(s.opts); err != nil {
			return err
		}
	}
	if s.conn, err = s.connect("appends"); err != nil {
		return err
	}
	if s.reads, err = s.connect("reads"); err != nil {
		return err
	}
	if s.js, err = jetstream.New(s.conn); err != nil {
		return err
	}
	if s.server == nil {
		kv, err := s.bucket(ctx, "lease", func(c *jetstream.KeyValueConfig) { c.TTL = s.opts.Lease })
		if err != nil {
			return err
		}
		if s.lease, err = takeLease(ctx, kv, s.opts.Lease, rand.Text()); err != nil {
			return err
		}
	}
	return s.prepare(ctx)
}

// prepare makes the streams and buckets and looks whether all is there.
func (s *Store) prepare(ctx context.Context) (err error) {
	for _, c := range []jetstream.StreamConfig{
		{Name: s.wholes, Description: "Tributary: what happened", Subjects: []string{s.opts.Name + ".w.>"}},
		{Name: s.deltas, Description: "Tributary: how it grew", Subjects: []string{s.opts.Name + ".p.>"}, MaxAge: s.opts.Keep},
	} {
		c.AllowDirect = true
		c.Storage = jetstream.FileStorage
		if _, err := s.js.CreateOrUpdateStream(ctx, c); err != nil {
			return fmt.Errorf("make the stream %s: %w", c.Name, err)
		}
	}
	if s.docs, err = s.bucket(ctx, "sessions", nil); err != nil {
		return err
	}
	kv, err := s.bucket(ctx, "notes", nil)
	if err != nil {
		return err
	}
	s.notes = &notes{kv: kv, pending: map[string]note{}}
	found, err := s.inspect(ctx)
	if err != nil {
		return err
	}
	return s.beginEpoch(ctx, found)
}

func (s *Store) connect(what string) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name("tributary " + what),
		// What could not be sent is an error now, not a surprise later.
		nats.ReconnectBufSize(-1),
		nats.MaxReconnects(-1),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			s.opts.Logger.Warn("NATS", "connection", what, "error", err)
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				s.opts.Logger.Warn("the connection to NATS broke, connecting again", "connection", what, "error", err)
			}
		}),
	}
	url := s.opts.URL
	if s.server != nil {
		options = append(options, nats.InProcessServer(s.server))
	}
	c, err := nats.Connect(url, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	return c, nil
}

func (s *Store) bucket(ctx context.Context, name string, adapt func(*jetstream.KeyValueConfig)) (jetstream.KeyValue, error) {
	c := jetstream.KeyValueConfig{Bucket: s.opts.Name + "_" + name}
	if adapt != nil {
		adapt(&c)
	}
	kv, err := s.js.CreateOrUpdateKeyValue(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("make the bucket %s: %w", c.Bucket, err)
	}
	return kv, nil
}

// beginEpoch goes on with the epoch of the last run if it ended cleanly and
// nothing is missing.
func (s *Store) beginEpoch(ctx context.Context, foundDamage bool) error {
	was, err := s.value(ctx, epochKey)
	if err != nil {
		return err
	}
	clean, err := s.value(ctx, cleanKey)
	if err != nil {
		return err
	}
	s.epoch = was
	if was == "" || clean != was || foundDamage {
		const enough = 8
		s.epoch = rand.Text()[:enough]
		if _, err := s.notes.kv.Put(ctx, epochKey, []byte(s.epoch)); err != nil {
			return fmt.Errorf("note the epoch: %w", err)
		}
	}
	if clean == "" {
		return nil
	}
	if err := s.notes.kv.Purge(ctx, cleanKey); err != nil {
		return fmt.Errorf("note that the log is in use: %w", err)
	}
	return nil
}

func (s *Store) value(ctx context.Context, k string) (string, error) {
	e, err := s.notes.kv.Get(ctx, k)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the notes: %w", err)
	}
	return string(e.Value()), nil
}

// inspect compares what was noted with what is there. It asks the server for its
// counts and reads no messages.
func (s *Store) inspect(ctx context.Context) (found bool, err error) {
	st, err := s.js.Stream(ctx, s.wholes)
	if err != nil {
		return false, fmt.Errorf("look at the stream %s: %w", s.wholes, err)
	}
	info, err := st.Info(ctx, jetstream.WithSubjectFilter(s.opts.Name+".w.*"))
	if err != nil {
		return false, fmt.Errorf("look at the stream %s: %w", s.wholes, err)
	}
	if lost := info.State.Lost; lost != nil {
		s.opts.Logger.Error("NATS says that messages of the log are lost", "messages", len(lost.Msgs), "bytes", lost.Bytes)
	}
	err = each(ctx, s.notes.kv, func(e jetstream.KeyValueEntry) (bool, error) {
		if e.Key() == epochKey || e.Key() == cleanKey {
			return true, nil
		}
		n, err := decodeNote(e.Value())
		if err != nil {
			return false, err
		}
		there := info.State.Subjects[s.opts.Name+".w."+e.Key()]
		switch {
		case n.Damage != "":
			s.damaged[n.Session] = n.Damage
		case there < n.Count:
			found = true
			_ = s.damage(ctx, n.Session, &lossError{fmt.Sprintf("%d of at least %d messages are there", there, n.Count)})
		}
		return true, nil
	})
	return found, err
}

// abandon gives back what a failed start has taken, also if ctx is why it failed.
func (s *Store) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if s.lease != nil {
		_ = s.lease.release(ctx) // it expires anyway
	}
	if s.conn != nil {
		s.conn.Close()
	}
	if s.reads != nil {
		s.reads.Close()
	}
	s.letGo()
}

// letGo ends the server and frees the directory.
func (s *Store) letGo() {
	if s.server != nil {
		s.server.Shutdown()
		s.server.WaitForShutdown()
	}
	if s.lock != nil {
		_ = s.lock.Close() // which unlocks it
	}
}
