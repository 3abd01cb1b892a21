package sqllog

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/internal/migration"
)

// This file makes a gateway known to the others on its database, and tells whether the database
// answers.

const (
	// presenceID is the advisory lock in PostgreSQL that each running gateway shares. A gateway that
	// wants it alone learns whether others run.
	presenceID = 0x7472696270726573 // "tribpres"
	// presenceEvery is how often a gateway looks whether the database answers, and presenceWithin how
	// long it waits for the answer.
	presenceEvery  = time.Second
	presenceWithin = 2 * time.Second
	// aloneMark begins the comment in a step of the schema beside which no older gateway can run.
	aloneMark = "-- alone:"
)

// besideError says that older gateways run, which a step of the schema would break.
type besideError struct{ there, needs int64 }

// Error implements error.
func (e *besideError) Error() string {
	return fmt.Sprintf("its schema has version %d, and the gateways that run on it now cannot go on with version %d: stop all of them first, then start this program", e.there, e.needs)
}

// presence is the lock that this gateway holds while it runs.
type presence struct {
	db *db

	mu      sync.Mutex
	conn    *sql.Conn // has the lock; nil: it was lost
	trouble error     // why the database did not answer last
	since   time.Time // when it began not to; zero: it answers
}

// join waits for its share of the lock, as long as another gateway changes the schema.
func (p *presence) join(ctx context.Context) error {
	conn, err := p.db.write.Conn(ctx)
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock_shared($1)`, int64(presenceID)); err != nil {
		discard(conn)
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conn = conn
	return nil
}

// discard closes a connection of a pool for good: with it go its locks.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = conn.Close() // it is bad
}

// leave gives the share back.
func (p *presence) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil {
		discard(p.conn)
		p.conn = nil
	}
}

// look asks the database for what each prompt needs. It joins again after the connection was lost.
func (p *presence) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, presenceWithin)
	defer cancel()
	p.mu.Lock()
	conn := p.conn
	p.mu.Unlock()
	if conn == nil {
		if err := p.join(ctx); err != nil {
			return err
		}
		p.mu.Lock()
		conn = p.conn
		p.mu.Unlock()
	}
	var standby bool
	if err := conn.QueryRowContext(ctx, `SELECT pg_is_in_recovery()`).Scan(&standby); err != nil {
		p.leave()
		return err
	}
	if standby {
		return errors.New("it is a standby, which takes no writes: correct --db, or promote it")
	}
	rows, err := p.db.read.QueryContext(ctx, `SELECT `+entryColumns+` FROM sessions LIMIT 0`)
	if err != nil {
		return err
	}
	return rows.Close()
}

// keepPresent looks again and again until the store closes.
func (s *Store) keepPresent() {
	p := s.db.present
	again := time.NewTicker(presenceEvery)
	defer again.Stop()
	for {
		select {
		case <-s.leaving:
			return
		case <-again.C:
		}
		err := p.look(s.life)
		p.mu.Lock()
		was := p.trouble
		if p.trouble = err; err == nil {
			p.since = time.Time{}
		} else if was == nil {
			p.since = time.Now()
		}
		p.mu.Unlock()
		if err != nil && was == nil {
			s.opts.Logger.Warn("the database does not answer as it should", "error", s.db.sentence(err))
		}
	}
}

// Reachable implements eventlog.Checked.
func (s *Store) Reachable() error {
	if s.db.present == nil {
		return nil
	}
	s.db.present.mu.Lock()
	defer s.db.present.mu.Unlock()
	if s.db.present.trouble != nil {
		return errors.New("the database does not answer as it should: the gateway's own log says why")
	}
	return nil
}

// waits reports whether a read that began then still waits for a database that does not answer. The
// reads of one outage wait for the same moment, so that a later one gets its error at once.
func (s *Store) waits(began time.Time) bool {
	if p := s.db.present; p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.since.IsZero() && p.since.Before(began) {
			began = p.since
		}
	}
	return time.Since(began) <= s.opts.Patience
}

// aloneLock lets one process at a time change the schema, and refuses to when older gateways run
// beside which a step cannot be done.
type aloneLock struct {
	migration.Lock
	db      *db
	gateway string // earlier processes of it do not count
	needs   int64  // the newest version that older gateways cannot bear
	held    bool
}

// SessionLock implements goose's lock.
func (l *aloneLock) SessionLock(ctx context.Context, c *sql.Conn) error {
	if err := l.Lock.SessionLock(ctx, c); err != nil {
		return err
	}
	if err := l.alone(ctx, c); err != nil {
		return errors.Join(err, l.Lock.SessionUnlock(context.WithoutCancel(ctx), c))
	}
	return nil
}

// alone keeps other gateways out if a step needs that. Gateways of releases before the lock show by
// their leases that they run.
func (l *aloneLock) alone(ctx context.Context, c *sql.Conn) error {
	var made bool
	if err := c.QueryRowContext(ctx, `SELECT to_regclass('goose_db_version') IS NOT NULL AND to_regclass('places') IS NOT NULL`).Scan(&made); err != nil || !made {
		return err
	}
	var there int64
	if err := c.QueryRowContext(ctx, `SELECT COALESCE(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&there); err != nil || there == 0 || there >= l.needs {
		return err
	}
	if err := c.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, int64(presenceID)).Scan(&l.held); err != nil {
		return err
	}
	var owned bool
	if err := c.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM places WHERE owner <> '' AND NOT starts_with(owner, $1) AND lease_until > `+l.db.now+`)`, l.gateway+":").Scan(&owned); err != nil {
		return errors.Join(err, l.release(ctx, c))
	}
	if !l.held || owned {
		return errors.Join(&besideError{there, l.needs}, l.release(ctx, c))
	}
	return nil
}

func (l *aloneLock) release(ctx context.Context, c *sql.Conn) error {
	if !l.held {
		return nil
	}
	l.held = false
	_, err := c.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, int64(presenceID))
	return err
}

// SessionUnlock implements goose's lock.
func (l *aloneLock) SessionUnlock(ctx context.Context, c *sql.Conn) error {
	return errors.Join(l.release(ctx, c), l.Lock.SessionUnlock(ctx, c))
}

// isAlone reports whether no older gateway can run beside a step.
func isAlone(step string) bool { return strings.Contains(step, aloneMark) }
