package sqllog

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// Store keeps records in a database. Make one with Open.
type Store struct {
	opts    Options
	db      *db
	lock    dirLock
	gateway string // stays the same over restarts
	owner   string // of this process

	life context.Context //nolint:containedctx // of the writer; ends when it has ended
	end  context.CancelFunc
	// open ends when Close begins, with mu.
	open  context.Context //nolint:containedctx // of what goes on in the background
	leave context.CancelFunc

	calls       sync.WaitGroup
	more        chan struct{} // there is something in the queue
	moreToIndex chan struct{} // there is something in toIndex
	stop        chan struct{} // closed when nothing more comes into the queue
	written     chan struct{} // closed when the writer has ended

	liveBytes atomic.Int64 // of all sessions
	damages   damages

	began   time.Time    // of uptime
	renewed atomic.Int64 // when the statement began that renewed the lease last; see uptime
	others  others
	died    chan struct{} // has one when another gateway has died

	unsynced     unsynced // the writer's, as what follows
	newestSynced syncedRecord
	unusable     chan struct{} // closed when the store must not go on
	reason       error         // of that; set before
	awaySince    time.Time     // when the database went away; zero: it is there
	awaySaid     time.Time     // when that was logged last

	checkpointing sync.Mutex  // held while checkpoints are collected; taken first
	awaited       atomic.Bool // checkpointer runs
	mu            sync.Mutex
	inspected     chan struct{} // closed when the inspection has ended
	closing       chan struct{} // closed when Close has ended
	sessions      map[string]*session
	fenced        map[string]map[string]struct{} // turns of sessions that were lost
	queue         []*op
	toIndex       map[string]struct{} // sessions that have changed since the index has got what they have
	checkpointer  *time.Timer
	sweeper       *time.Timer
	announced     eventlog.Gateway // what others are to know of this gateway
	draining      bool             // sessions are given back at their last use
}

var _ eventlog.Store = (*Store)(nil)

// Open opens the log, and makes it if there is none. The error is a sentence, and an
// eventlog.HeldError if another gateway uses the data directory.
func Open(ctx context.Context, o Options) (_ *Store, err error) {
	s := &Store{
		opts: o.withDefaults(), began: time.Now(), inspected: make(chan struct{}), closing: make(chan struct{}), more: make(chan struct{}, 1), stop: make(chan struct{}), written: make(chan struct{}),
		sessions: map[string]*session{}, fenced: map[string]map[string]struct{}{}, died: make(chan struct{}, 1), unusable: make(chan struct{}), toIndex: map[string]struct{}{}, moreToIndex: make(chan struct{}, 1),
		damages: damages{sessions: map[string]map[string]struct{}{}},
	}
	s.others.s = s
	s.life, s.end = context.WithCancel(context.WithoutCancel(ctx))
	s.open, s.leave = context.WithCancel(s.life)
	if err := s.start(ctx); err != nil {
		s.end()
		if s.db != nil {
			err = errors.Join(err, s.db.close())
		}
		_ = s.lock.Close()
		return nil, err
	}
	go s.run() //nolint:contextcheck // for the life of the store, not for this call: Close waits for it
	s.eraseRest(ctx)
	s.calls.Go(s.inspect)
	s.calls.Go(s.keepIndex)
	if !s.db.exclusive {
		s.calls.Go(s.keepRow)
	}
	if s.db.present != nil {
		s.calls.Go(s.keepPresent)
	}
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
	known, lost, err := s.readName()
	if err != nil {
		return err
	}
	s.gateway = cmp.Or(known, rand.Text())
	s.owner = s.gateway + ":" + rand.Text()[:8]
	if s.opts.URL != "" {
		s.db, err = openPostgres(ctx, s.opts, s.owner)
	} else {
		s.db, err = openSQLite(ctx, s.opts)
	}
	if err != nil {
		return err
	}
	if err := s.noteStart(ctx, lost); err != nil {
		return s.db.sentence(err)
	}
	if err := s.register(ctx); err != nil {
		return s.db.sentence(err)
	}
	return s.writeName(true)
}

// firstEdition says that the log of the first edition is not read.
func (s *Store) firstEdition() {
	if _, err := os.Stat(filepath.Join(s.opts.Dir, "nats")); err == nil {
		s.opts.Logger.Warn("the folder nats in the data directory is a log of Tributary's first edition: it is not read, and stays as it is", "data", s.opts.Dir)
	}
}

// noteStart writes at each start, so that there is a journal. In a back-up that was restored, and after a loss of commits, it
// calls beginNumbersAnew before: the journal hides the loss from the next start.
func (s *Store) noteStart(ctx context.Context, lost bool) error {
	ctx, cancel := s.db.bounded(ctx, 0)
	defer cancel()
	_, err := s.db.write.ExecContext(ctx, `INSERT INTO store (epoch) SELECT '' WHERE NOT EXISTS (SELECT 1 FROM store)`)
	if err == nil && !lost {
		err = s.db.write.QueryRowContext(ctx, `SELECT min(numbers_from) < 0 FROM store`).Scan(&lost)
	}
	if err == nil && lost {
		err = s.beginNumbersAnew(ctx)
	}
	if err == nil && s.db.exclusive {
		_, err = s.db.write.ExecContext(ctx, `UPDATE store SET starts = starts + 1`)
	}
	return err
}

// beginNumbersAnew makes sessions that are loaded from now on go on behind a number that nobody has given. So a client's position
// behind a lost record never names another one. The clock tells the number: no session gives a thousand of them in a millisecond.
// If the clock was set back, the number before tells it.
func (s *Store) beginNumbersAnew(ctx context.Context) error {
	const before, minutes = `(CASE WHEN numbers_from < 0 THEN -1 - numbers_from ELSE numbers_from END)`, 1 << 30
	_, err := s.db.write.ExecContext(ctx, `UPDATE store SET numbers_from = CASE WHEN `+before+` < $1 THEN $1 ELSE `+before+` + $2 END`, time.Now().UnixMilli()<<10, minutes)
	return err
}

func (s *Store) isClosed() bool { return s.open.Err() != nil }

// begin admits a call. Close waits for those that were admitted.
func (s *Store) begin(ctx context.Context) (done func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosed() {
		return nil, eventlog.ErrClosed
	}
	s.calls.Add(1)
	return s.calls.Done, nil
}

// Close implements eventlog.Store. The text that memory alone has is checkpointed first,
// and the sessions are given back.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.isClosed() {
		s.mu.Unlock()
		<-s.closing
		return nil
	}
	s.leave()
	for _, t := range []*time.Timer{s.checkpointer, s.sweeper} {
		if t != nil {
			t.Stop()
		}
	}
	s.mu.Unlock()
	defer close(s.closing)
	s.calls.Wait() // the writer still works
	s.checkpoint()
	ctx, cancel := context.WithTimeout(s.life, indexLeave)
	defer cancel()
	_ = s.indexChanged(ctx) // the next start completes it
	err := s.releaseAll()
	close(s.stop)
	<-s.written
	s.end()
	return errors.Join(err, s.writeName(false), s.db.close(), s.lock.Close())
}

// do has the writer do something for no session, and waits.
func (s *Store) do(o *op) error {
	o.began = time.Now()
	s.enqueue(o)
	<-o.done
	return o.err
}

// resize changes what memory has of a session, and counts it. The caller holds the session's lock.
func (s *Store) resize(se *session, change func(*liveBuffer)) {
	before := se.live.bytes + se.live.folded
	change(&se.live)
	if !se.lost {
		s.liveBytes.Add(int64(se.live.bytes + se.live.folded - before))
	}
}

// lose takes a session out of memory that this gateway no longer has. The turns of a session that somebody else
// has, and that had begun here, are fenced: they never write again. The caller holds the session's lock.
func (s *Store) lose(se *session, fence bool) {
	if se.lost {
		return
	}
	s.resize(se, func(live *liveBuffer) { *live = liveBuffer{stored: live.stored} })
	se.lost = true
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
