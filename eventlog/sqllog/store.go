package sqllog

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// Store keeps records in a database. Make one with Open.
type Store struct {
	opts    Options
	db      *db
	lock    *os.File
	epoch   string
	gateway string // stays the same over restarts
	owner   string // of this process

	life context.Context //nolint:containedctx // of the writer; ends when it has ended
	end  context.CancelFunc

	calls   sync.WaitGroup
	more    chan struct{} // there is something in the queue
	stop    chan struct{} // closed when nothing more comes into the queue
	written chan struct{} // closed when the writer has ended

	liveBytes atomic.Int64 // of all sessions
	damages   damages

	checkpointing sync.Mutex // held while checkpoints are collected; taken first

	mu           sync.Mutex
	closed       bool
	closing      chan struct{} // closed when Close has ended
	sessions     map[string]*session
	fenced       map[string]map[string]struct{} // turns of sessions that were lost
	queue        []*op
	dirty        map[*session]struct{}
	checkpointer *time.Timer
	sweeper      *time.Timer
	renewed      time.Time
}

var _ eventlog.Store = (*Store)(nil)

// Open opens the log, and makes it if there is none. The error is a sentence, and an
// eventlog.HeldError if another gateway uses the data directory.
func Open(ctx context.Context, o Options) (_ *Store, err error) {
	s := &Store{
		opts: o.withDefaults(), closing: make(chan struct{}), more: make(chan struct{}, 1), stop: make(chan struct{}), written: make(chan struct{}),
		sessions: map[string]*session{}, fenced: map[string]map[string]struct{}{}, dirty: map[*session]struct{}{},
	}
	s.life, s.end = context.WithCancel(context.WithoutCancel(ctx))
	if err := s.start(ctx); err != nil {
		s.end()
		if s.db != nil {
			err = errors.Join(err, s.db.close())
		}
		if s.lock != nil {
			_ = s.lock.Close()
		}
		return nil, err
	}
	go s.run() //nolint:contextcheck // for the life of the store, not for this call: Close waits for it
	s.eraseRest(ctx)
	return s, nil
}

func (s *Store) start(ctx context.Context) (err error) {
	if s.opts.Dir == "" {
		return errors.New("the log has no data directory: choose one with --data")
	}
	if !s.opts.shared {
		if s.lock, err = lockDir(s.opts.Dir); err != nil {
			return err
		}
	}
	s.firstEdition()
	if s.gateway, err = s.name(); err != nil {
		return err
	}
	if s.gateway == "" {
		s.gateway = rand.Text()
	}
	s.owner = s.gateway + ":" + rand.Text()[:8]
	if s.opts.URL != "" {
		s.db, err = openPostgres(ctx, s.opts)
	} else {
		s.db, err = openSQLite(ctx, s.opts)
	}
	if err != nil {
		return err
	}
	if err := s.readEpoch(ctx); err != nil {
		return s.db.sentence(err)
	}
	return s.sign()
}

// firstEdition says that the log of the first edition is not read.
func (s *Store) firstEdition() {
	if _, err := os.Stat(filepath.Join(s.opts.Dir, "nats")); err == nil {
		s.opts.Logger.Warn("the folder nats in the data directory is a log of Tributary's first edition: it is not read, and stays as it is", "data", s.opts.Dir)
	}
}

// nameFile has the name by which this gateway knows its sessions after a restart,
// and whether the data directory has a database.
const nameFile = "gateway"

// name reads the name of this gateway. A data directory that had a database and has
// none now is an error: the sessions would be gone without a word.
func (s *Store) name() (known string, err error) {
	path, database := filepath.Join(s.opts.Dir, nameFile), filepath.Join(s.opts.Dir, databaseFile)
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return "", fmt.Errorf("the file %s cannot be read: correct its permissions: %w", path, reason(err))
	}
	known, had, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	if s.opts.URL == "" && had == databaseFile {
		if _, err := os.Stat(database); os.IsNotExist(err) {
			return "", fmt.Errorf("the database %s is missing in a data directory that had one: restore it, or delete the file %s to begin with no sessions", database, path)
		}
	}
	return known, nil
}

// sign writes the name when the database is there.
func (s *Store) sign() error {
	line := s.gateway
	if _, err := os.Stat(filepath.Join(s.opts.Dir, databaseFile)); err == nil {
		line += " " + databaseFile
	}
	path := filepath.Join(s.opts.Dir, nameFile)
	if text, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(text)) == line {
		return nil
	}
	if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
		return fmt.Errorf("the data directory %s cannot be written: correct its permissions, or free some room: %w", s.opts.Dir, reason(err))
	}
	return nil
}

func (s *Store) readEpoch(ctx context.Context) error {
	const enough = 8
	ctx, cancel := s.db.bounded(ctx, 0)
	defer cancel()
	_, err := s.db.write.ExecContext(ctx, `INSERT INTO store (epoch) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM store)`, rand.Text()[:enough])
	if err != nil {
		return err
	}
	return s.db.read.QueryRowContext(ctx, `SELECT min(epoch) FROM store`).Scan(&s.epoch)
}

// Epoch implements eventlog.Store.
func (s *Store) Epoch() string { return s.epoch }

func (s *Store) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// begin admits a call. Close waits for those that were admitted.
func (s *Store) begin(ctx context.Context) (done func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, eventlog.ErrClosed
	}
	s.calls.Add(1)
	return s.calls.Done, nil
}

// Close implements eventlog.Store. What is still in memory only is checkpointed
// first, and the sessions are given back.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		<-s.closing
		return nil
	}
	s.closed = true
	for _, t := range []*time.Timer{s.checkpointer, s.sweeper} {
		if t != nil {
			t.Stop()
		}
	}
	s.mu.Unlock()
	defer close(s.closing)
	s.calls.Wait() // the writer still works
	s.checkpoint()
	err := s.giveBack()
	close(s.stop)
	<-s.written
	s.end()
	err = errors.Join(err, s.db.close())
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close()) // which unlocks it
	}
	return err
}

// do has the writer do something for no session, and waits.
func (s *Store) do(o *op) error {
	o.began = time.Now()
	s.enqueue(o)
	<-o.done
	return o.err
}

// lose takes a session out of memory that somebody else has now. Turns that it had
// begun here are fenced: they never write again. The caller holds the session's lock.
func (s *Store) lose(se *session, fence bool) {
	s.liveBytes.Add(-int64(se.live.bytes))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[se.id] == se {
		delete(s.sessions, se.id)
	}
	if fence {
		turns := maps.Clone(se.turns)
		maps.Copy(turns, s.fenced[se.id])
		s.fenced[se.id] = turns
	}
}
