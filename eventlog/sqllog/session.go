package sqllog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
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
	seen   int64 // the term that the database had when the session was loaded
	term   int64 // ours; 0 until the first transaction has taken the session
	lost   bool  // somebody else has the session now
	// Numbers up to last are given, up to durable committed, up to erased deleted.
	last, durable, erased uint64
	flight                []*op // what the writer has of the session, in order
	live                  liveBuffer
	turns                 map[string]struct{} // that have begun here and not ended
	marked                bool                // for the next checkpoint
	fenced                map[string]struct{} // turns that were lost with an earlier term
	members               map[string]string   // as they are in the database, if known

	// Guarded by Store.mu.
	uses     int
	used     time.Time
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

// held reports whether records that come now have to wait for others.
func (se *session) held() bool { return se.visible() != se.last }

// enter returns the session, loaded, for one call that writes. The caller leaves it.
func (s *Store) enter(ctx context.Context, id string) (*session, error) {
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
			select {
			case <-released:
				continue
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		se.order.Lock()
		err := s.load(ctx, se)
		se.order.Unlock()
		if err != nil {
			s.leave(se)
			return nil, err
		}
		return se, nil
	}
}

func (s *Store) leave(se *session) {
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
	var owner string
	var alive bool
	var checkpointed uint64
	var rows []checkpoint
	err := s.reading(ctx, func(ctx context.Context) error {
		err := s.db.read.QueryRowContext(ctx, `SELECT owner, term, last, erased, lease_until > `+s.db.now+`,
			COALESCE((SELECT max(seq) FROM records WHERE session = $1), 0), COALESCE((SELECT max(seq) FROM checkpoints WHERE session = $1), 0)
			FROM sessions WHERE id = $1`, se.id).Scan(&owner, &se.seen, &se.last, &se.erased, &alive, &se.durable, &checkpointed)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil && checkpointed != 0 {
			rows, err = s.checkpoints(ctx, se.id)
		}
		return err
	})
	if err != nil {
		return err
	}
	ours := s.db.exclusive || strings.HasPrefix(owner, s.gateway+":")
	if owner != "" && alive && !ours {
		return fmt.Errorf("session %q: %w", se.id, eventlog.ErrNotOwner)
	}
	se.last = max(se.last, se.durable, checkpointed)
	if owner != "" {
		se.last += skipped
	}
	for _, c := range rows {
		var r trace.Record
		if err := r.UnmarshalJSON(c.body); err != nil {
			return fmt.Errorf("read a checkpoint of session %q: %w", se.id, err)
		}
		se.live.restore(c, r)
	}
	se.mu.Lock()
	se.loaded = true
	se.mu.Unlock()
	return nil
}

// checkpoints reads what the log holds of the session's open parts, in order.
func (s *Store) checkpoints(ctx context.Context, id string) (all []checkpoint, err error) {
	rows, err := s.db.read.QueryContext(ctx, `SELECT turn, part, chunk, seq, body FROM checkpoints WHERE session = $1 ORDER BY seq`, id)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var c checkpoint
		if err := rows.Scan(&c.key.turn, &c.key.name, &c.chunk, &c.seq, &c.body); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, rows.Err()
}
