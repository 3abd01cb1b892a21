package sqllog

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// This file knows until when this gateway owns its sessions.

var (
	_ eventlog.Owner   = (*Store)(nil)
	_ eventlog.Checked = (*Store)(nil)
)

// uptime is the monotonic time since the store was opened, in nanoseconds.
func (s *Store) uptime() int64 { return int64(time.Since(s.began)) }

// isLeased reports whether no other gateway can have taken the session. The lease counts from the
// beginning of the transaction that wrote it, so it is over here before it is over in the database.
func (s *Store) isLeased(se *session) bool {
	return s.db.exclusive || s.uptime()-max(se.leased.Load(), s.renewed.Load()) < int64(s.opts.Lease)
}

// isElsewhere reports whether another gateway has the session. An earlier process of this gateway
// has none.
func (s *Store) isElsewhere(now standing) bool {
	return now.owner != "" && now.alive && !s.db.exclusive && !strings.HasPrefix(now.owner, s.gateway+":")
}

// renewal renews the leases of all sessions of this gateway. If it comes too late, others may have
// taken some of them in between: these are lost.
func (s *Store) renewal(now time.Time) *op {
	var at int64
	var kept map[string]ownership // nil: all
	return &op{
		began: now,
		do: func(ctx context.Context, tx *sql.Tx) (err error) {
			at, kept = s.uptime(), nil
			if _, err = s.db.exec(ctx, tx, `UPDATE places SET lease_until = `+s.db.now+` + $2 WHERE owner = $1`, s.owner, s.opts.Lease.Milliseconds()); err != nil {
				return err
			}
			if at-s.renewed.Load() >= int64(s.opts.Lease) {
				kept, err = owners(tx.QueryContext(ctx, `SELECT session, owner, term FROM places WHERE owner = $1`, s.owner))
			}
			return err
		},
		then: func() {
			if kept != nil {
				s.keepOnly(kept)
			}
			s.renewed.Store(at) // last: from now on those that are left are leased
		},
	}
}

// keepOnly loses the sessions that were taken by others.
func (s *Store) keepOnly(kept map[string]ownership) {
	for _, se := range s.all() {
		se.mu.Lock()
		if se.term != 0 && !se.lost && kept[se.id] != (ownership{s.owner, se.term}) {
			s.lose(se, true)
		}
		se.mu.Unlock()
	}
}

// all are the sessions in memory.
func (s *Store) all() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.AppendSeq(make([]*session, 0, len(s.sessions)), maps.Values(s.sessions))
}

// Owned implements eventlog.Owner.
func (s *Store) Owned(id string) uint64 {
	s.mu.Lock()
	se := s.sessions[id]
	if se == nil || se.released != nil {
		s.mu.Unlock()
		return 0
	}
	se.used = time.Now()
	s.mu.Unlock()
	se.mu.Lock()
	defer se.mu.Unlock()
	if !se.loaded || se.lost || !s.isLeased(se) {
		return 0
	}
	return uint64(se.term) //nolint:gosec // it counts from 1
}

// Term implements eventlog.Owner.
func (s *Store) Term(ctx context.Context, id string) (uint64, error) {
	done, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	if !plain(id) {
		return 0, nil // no session has that name
	}
	if err := s.awaitRelease(ctx, id); err != nil {
		return 0, err
	}
	if term := s.Owned(id); term != 0 {
		return term, nil
	}
	var now standing
	err = s.reading(ctx, func(ctx context.Context) (err error) {
		now, err = s.stands(ctx, id)
		return err
	})
	switch {
	case err != nil:
		return 0, err
	case now.owner == s.owner:
		return uint64(now.term), nil //nolint:gosec // it counts from 1
	case s.isElsewhere(now):
		return 0, fmt.Errorf("session %q: %w", id, eventlog.ErrNotOwner)
	}
	return uint64(now.term + 1), nil //nolint:gosec // as above
}

// awaitRelease waits until a session that is being given back has been.
func (s *Store) awaitRelease(ctx context.Context, id string) error {
	s.mu.Lock()
	var released chan struct{}
	if se := s.sessions[id]; se != nil {
		released = se.released
	}
	s.mu.Unlock()
	if released == nil {
		return nil
	}
	select {
	case <-released:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// GiveBack implements eventlog.Owner.
func (s *Store) GiveBack() {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	s.sweep()
}
