package sqllog

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// sweepEvery is how often memory is freed, and what else is done beside appends.
const sweepEvery = time.Second

// smallLive is what each session may keep of its records however many there are.
const smallLive = 64 << 10

// liveLimit is how much of its records a session may keep in memory now.
func (s *Store) liveLimit() int {
	if s.liveBytes.Load() < int64(s.opts.TotalBytes) {
		return s.opts.LiveBytes
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return min(s.opts.LiveBytes, max(smallLive, s.opts.TotalBytes/max(1, len(s.sessions))))
}

// arm starts the sweeper when there is something to sweep. The caller holds s.mu.
func (s *Store) arm() {
	switch {
	case s.isClosed():
	case s.sweeper == nil:
		s.sweeper = time.AfterFunc(sweepEvery, s.sweep)
	case len(s.sessions) == 1:
		s.sweeper.Reset(sweepEvery)
	}
}

// sweep drops the ephemeral records of turns that are over, and their durable ones that are not
// new. It gives back the sessions that were not used for a while.
func (s *Store) sweep() {
	now := time.Now()
	s.mu.Lock()
	if s.isClosed() || len(s.sessions) == 0 {
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	for _, se := range s.all() {
		se.mu.Lock()
		s.resize(se, func(live *liveBuffer) {
			live.age(se.turns)
			live.drop(now.Add(-s.opts.Linger))
		})
		s.release(se, now)
		se.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isClosed() && len(s.sessions) > 0 {
		s.sweeper.Reset(sweepEvery)
	}
}

// release gives back a session that was not used for a while. The caller holds the
// session's lock.
func (s *Store) release(se *session, now time.Time) {
	if len(se.flight) > 0 || len(se.turns) > 0 || se.live.unsaved() || se.term == 0 {
		return
	}
	s.mu.Lock()
	rests := (now.Sub(se.used) >= s.opts.Idle || se.leaves) && len(se.live.ended) == 0
	idle := se.uses == 0 && se.released == nil && (rests || s.draining) && !s.isClosed()
	if idle {
		se.released = make(chan struct{})
	}
	s.mu.Unlock()
	if !idle {
		return
	}
	s.free(se).after = func(error) {
		s.lose(se, false)
		se.term = 0
		close(se.released)
	}
}

const freePlace = `UPDATE places SET owner = '' WHERE session = $1`

// free has the writer give a session back. The caller holds the session's lock.
func (s *Store) free(se *session) *op {
	last := se.last
	o := &op{se: se, began: time.Now(), moves: func(p *place) { p.last = last }, do: func(ctx context.Context, tx *sql.Tx) error {
		_, err := s.db.exec(ctx, tx, freePlace, se.id)
		return err
	}}
	s.enqueue(o)
	return o
}

// releaseAll gives back all sessions, and then removes the row of this gateway.
func (s *Store) releaseAll() error {
	var ops []*op
	for _, se := range s.all() {
		s.mu.Lock()
		released := se.released != nil // the writer has that
		s.mu.Unlock()
		se.mu.Lock()
		if !released && !se.lost && (se.term != 0 || len(se.flight) > 0) {
			ops = append(ops, s.free(se))
		}
		se.mu.Unlock()
	}
	if !s.db.exclusive {
		ops = append(ops, s.deregister())
	}
	var err error
	for _, o := range ops {
		<-o.done
		if o.err != nil && err == nil && !errors.Is(o.err, eventlog.ErrNotOwner) && s.whyUnusable() == nil {
			err = errors.Join(errors.New("the log is not closed in order"), o.err)
		}
	}
	return err
}
