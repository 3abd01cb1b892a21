package sqllog

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"
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

// presence is the lock that this gateway holds while it runs.
type presence struct {
	db *db

	mu      sync.Mutex
	conn    *sql.Conn // has the lock; nil: it was lost
	release func()    // gives it back, and closes the connection
	since   time.Time // when the database began not to answer; zero: it answers
}

// join waits for its share of the lock, as long as another gateway changes the schema.
func (p *presence) join(ctx context.Context) (*sql.Conn, error) {
	conn, err := p.db.write.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock_shared($1)`, int64(presenceID)); err != nil {
		discard(conn)
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conn = conn
	p.release = func() { // a server may notice the end of a connection late, and a newer program may start at once
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), presenceWithin)
		defer cancel()
		_, _ = conn.ExecContext(ctx, `SELECT pg_advisory_unlock_shared($1)`, int64(presenceID)) // a connection that is lost holds nothing
		discard(conn)
	}
	return conn, nil
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
		p.release()
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
		var err error
		if conn, err = p.join(ctx); err != nil {
			return err
		}
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
		case <-s.open.Done():
			return
		case <-again.C:
		}
		err := p.look(s.life)
		p.mu.Lock()
		answered := p.since.IsZero()
		if err == nil {
			p.since = time.Time{}
		} else if answered {
			p.since = time.Now()
		}
		p.mu.Unlock()
		if err != nil && answered {
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
	if !s.db.present.since.IsZero() {
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

// alone keeps other gateways out until a transaction ends. It is an error if some run, which a step of the schema
// would break. Gateways of releases before the lock show by their leases that they run. Earlier processes of this
// gateway do not count.
func (d *db) alone(ctx context.Context, tx *sql.Tx, gateway string, there, needs int64) error {
	var held, owned bool
	if err := tx.QueryRowContext(ctx, `SELECT pg_try_advisory_xact_lock($1), EXISTS (SELECT 1 FROM places WHERE owner <> '' AND NOT starts_with(owner, $2) AND lease_until > `+d.now+`)`,
		int64(presenceID), gateway+":").Scan(&held, &owned); err != nil {
		return err
	}
	if !held || owned {
		return fmt.Errorf("its schema has version %d, and the gateways that run on it now cannot go on with version %d: stop all of them first, then start this program", there, needs)
	}
	return nil
}
