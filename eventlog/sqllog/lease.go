package sqllog

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// This file knows until when this gateway owns its sessions.

var _ eventlog.Checked = (*Store)(nil)

// uptime is the monotonic time since the store was opened, in nanoseconds.
func (s *Store) uptime() int64 { return int64(time.Since(s.began)) }

// isLeased reports whether the lease of this gateway is not over.
func (s *Store) isLeased() bool {
	return s.db.exclusive || s.uptime()-s.renewed.Load() < int64(s.opts.Lease)
}

// isSure reports whether no other gateway can have taken a session of this one: the lease was renewed so lately that nobody
// judges this gateway dead.
func (s *Store) isSure() bool {
	return s.db.exclusive || s.uptime()-s.renewed.Load() < int64(min(judgeAfter, s.opts.Lease))
}

// isElsewhere reports whether another gateway has the session. An earlier process of this gateway
// has none.
func (s *Store) isElsewhere(now standing) bool {
	return now.owner != "" && now.alive && !s.db.exclusive && !strings.HasPrefix(now.owner, s.gateway+":")
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
	if !se.loaded || se.lost || !s.isLeased() {
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
func (s *Store) GiveBack(left ...string) {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	for _, se := range s.all() {
		if slices.Contains(left, se.id) {
			se.mu.Lock()
			clear(se.turns)
			se.mu.Unlock()
		}
	}
	s.sweep()
}

// LetGo implements eventlog.Owner.
func (s *Store) LetGo(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if se := s.sessions[id]; se != nil {
		se.leaves = true
	}
}
