package sqllog

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// eraseAtOnce is how many records one transaction removes, so that appends to other
// sessions get their turn in between.
const eraseAtOnce = 500

// Delete implements eventlog.Store. One transaction removes the entry, and notes that the
// records up to a number are deleted: from then on nobody sees them, whatever happens to this
// process. Then they are removed in steps. The next start continues a removal that
// was cut short. The place of the session stays, because it has the session's numbers.
func (s *Store) Delete(ctx context.Context, id string) error {
	var upTo uint64
	_, err := s.change(ctx, id, func(se *session) *op {
		se.order.Lock()
		defer se.order.Unlock()
		se.mu.Lock()
		defer se.mu.Unlock()
		last := se.last
		upTo = last
		o := &op{se: se}
		o.do = func(ctx context.Context, tx *sql.Tx) error {
			if _, err := s.db.exec(ctx, tx, `DELETE FROM turns WHERE session = $1 AND first <= $2`, id, last); err != nil {
				return err
			}
			se.changedIn = tx
			for _, statement := range []string{
				`DELETE FROM checkpoints WHERE session = $1`,
				`DELETE FROM exports WHERE session = $1`,
				`INSERT INTO searched (session) VALUES ($1) ON CONFLICT (session) DO UPDATE SET seq = 0, title = ''`,
				removeMembers,
				`DELETE FROM sessions WHERE id = $1`,
			} {
				if _, err := s.db.exec(ctx, tx, statement, id); err != nil {
					return err
				}
			}
			return s.db.words.remove(ctx, tx, allOf, id)
		}
		o.moves = func(p *place) { p.last, p.deletedThrough, p.registered = last, last, 0 }
		o.then = func() {
			se.deletedThrough, se.members = last, nil
			s.resize(se, func(live *liveBuffer) { *live = liveBuffer{stored: last} })
			clear(se.turns)
		}
		return o
	})
	if err != nil {
		return err
	}
	s.forgetDamage(id)
	done, err := s.begin(ctx)
	if err != nil {
		return nil //nolint:nilerr // the session is deleted: the next start removes its records
	}
	defer done()
	s.eraseLogged(ctx, id, upTo)
	return nil
}

// eraseLogged erases records of a session that is deleted, or leaves them to the next start.
func (s *Store) eraseLogged(ctx context.Context, id string, upTo uint64) {
	if err := s.erase(ctx, id, upTo); err != nil && !errors.Is(err, eventlog.ErrClosed) {
		s.opts.Logger.Warn("deleted records are not removed from the database yet", "session", id, "error", err)
	}
}

// erase removes the records of a session up to a number.
func (s *Store) erase(ctx context.Context, id string, upTo uint64) error {
	for {
		var n int64
		err := s.do(&op{do: func(ctx context.Context, tx *sql.Tx) (err error) {
			n, err = s.db.exec(ctx, tx, `DELETE FROM records WHERE session = $1 AND seq IN (SELECT seq FROM records WHERE session = $1 AND seq <= $2 ORDER BY seq LIMIT $3)`, id, upTo, eraseAtOnce)
			return err
		}})
		switch {
		case err != nil || n < eraseAtOnce:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case s.isClosed(): // the next start goes on
			return eventlog.ErrClosed
		}
		time.Sleep(time.Millisecond)
	}
}

// eraseRest removes what a deletion that was cut short has left.
func (s *Store) eraseRest(ctx context.Context) {
	left := map[string]uint64{}
	if err := eachRow(ctx, s.db.read, func(scan func(...any) error) error {
		p, err := scanPlace(scan)
		if p.session != "" { // else it is damaged, and may not be deleted at all
			left[p.session] = p.deletedThrough
		}
		return err
	}, `SELECT session, last, deleted_through, registered, sum FROM places WHERE deleted_through > 0 AND EXISTS (SELECT 1 FROM records WHERE records.session = places.session AND seq <= deleted_through)`); err != nil {
		s.opts.Logger.Warn("deleted records are not removed from the database yet", "error", err)
	}
	s.calls.Go(func() {
		for id, upTo := range left {
			s.eraseLogged(s.life, id, upTo)
		}
	})
}
