package sqllog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// skipped is how many numbers a session leaves out when its last owner crashed:
// more than ephemeral records can have been given between two checkpoints.
const skipped = 1 << 20

// errMoved says that the session in the database is not as it was loaded: somebody
// else has taken it meanwhile.
var errMoved = errors.New("the session was taken over while this was being written")

// session is a session that this store writes to.
type session struct {
	id string

	// order makes appends come one after another. It is taken before mu, and mu
	// before Store.mu.
	order sync.Mutex

	mu     sync.Mutex
	loaded bool
	place  place // as it is in the database; the writer's, once it is loaded
	seen   int64 // the term that the database had when the session was loaded
	term   int64 // ours; 0 until the first transaction has taken the session
	lost   bool  // somebody else has the session now
	// Numbers up to last are given. Records up to durable are committed, and those up to
	// deletedThrough deleted.
	last, durable, deletedThrough uint64
	flight                        []*op // what the writer has of the session, in order
	live                          liveBuffer
	turns                         map[string]struct{} // that have begun here and not ended
	fenced                        map[string]struct{} // turns that were lost with an earlier term

	// The writer alone uses these: the members in the database, if known, and the transaction that has
	// changed them last.
	members   map[string]string
	changedIn *sql.Tx

	// Guarded by Store.mu.
	uses     int
	used     time.Time
	leaves   bool          // it is given back as soon as nobody uses it
	released chan struct{} // closed when the session has been given back; nil before
}

// visible is the number up to which everything that exists may be read.
func (se *session) visible() uint64 {
	for _, o := range se.flight {
		if o.first != 0 {
			return o.first - 1
		}
	}
	return se.last
}

// pin returns the session, loaded, for one call that writes. The caller unpins it.
func (s *Store) pin(ctx context.Context, id string) (*session, error) {
	if !plain(id) {
		return nil, fmt.Errorf("%q cannot be the name of a session", id)
	}
	for {
		s.mu.Lock()
		se := s.sessions[id]
		if se == nil {
			se = &session{id: id, turns: map[string]struct{}{}, fenced: s.fenced[id]}
			s.sessions[id] = se
			s.arm()
		}
		released := se.released
		if released == nil {
			se.uses++
		}
		s.mu.Unlock()
		if released != nil {
			if err := s.awaitRelease(ctx, id); err != nil {
				return nil, err
			}
			continue
		}
		se.order.Lock()
		err := s.load(ctx, se)
		se.order.Unlock()
		if err != nil {
			s.unpin(se)
			return nil, err
		}
		return se, nil
	}
}

func (s *Store) unpin(se *session) {
	se.mu.Lock()
	defer se.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	se.uses--
	se.used = time.Now()
	if se.uses == 0 && !se.loaded && s.sessions[se.id] == se {
		delete(s.sessions, se.id)
	}
}

// load reads where the session stands. It is a write's first step: a session that
// another gateway owns is an error.
func (s *Store) load(ctx context.Context, se *session) error {
	if se.loaded { // order is held by all who change it
		return nil
	}
	var now standing
	var rows []trace.Record
	err := s.reading(ctx, func(ctx context.Context) (err error) {
		if now, err = s.stands(ctx, se.id); err == nil && now.checkpointed != 0 {
			rows, err = s.checkpoints(ctx, se.id)
		}
		return err
	})
	if err != nil {
		return err
	}
	if s.isElsewhere(now) {
		return fmt.Errorf("session %q: %w", se.id, eventlog.ErrNotOwner)
	}
	open, over, err := s.openParts(ctx, now, se.id, rows)
	if err != nil {
		return err
	}
	se.mu.Lock()
	defer se.mu.Unlock()
	se.seen, se.place, se.deletedThrough, se.durable = now.term, now.place, now.deletedThrough, now.durable
	se.last = max(now.last, now.durable, now.checkpointed)
	se.live.checkpointed, se.live.over = se.last, slices.Compact(over)
	if now.owner != "" {
		se.last += skipped
	}
	se.last = max(se.last, now.numbersFrom)
	se.live.stored = se.last
	s.resize(se, func(live *liveBuffer) {
		for _, r := range open {
			live.add(r, time.Now())
		}
	})
	se.loaded = true
	return nil
}
