package sqllog

import (
	"cmp"
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
	// leasesThrough is the step that takes the leases of sessions away.
	leasesThrough = 10
	// aloneMark begins the comment in a step of the schema beside which no older gateway can run.
	aloneMark = "-- alone:"
)

// presence is the locks that this gateway holds while it runs: its share, and its own (lockOf). The connection with
// them is keepRow's.
type presence struct {
	db   *db
	lock int64 // its own

	conn    *sql.Conn // nil: it was lost
	release func()    // gives the locks of the connection back
	locked  bool      // the connection has its own lock

	mu     sync.Mutex
	failed error     // of the newest renewal
	since  time.Time // when the database began not to answer; zero: it answers
}

// connection waits for its share of the lock, as long as another gateway changes the schema. Its own lock it takes as soon
// as it can: the server may notice late that the connection before was lost.
func (p *presence) connection(ctx context.Context) (_ *sql.Conn, err error) {
	if p.conn == nil {
		conn, err := p.db.write.Conn(ctx)
		if err != nil {
			return nil, err
		}
		// A renewal that a crash of the server takes back was followed by others, or its gateway shows nothing (isSure).
		if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock_shared($1), set_config('synchronous_commit', 'off', false)`, int64(presenceID)); err != nil {
			discard(conn)
			return nil, err
		}
		p.conn, p.locked = conn, false
		p.release = func() { // a server may notice the end of a connection late, and a newer program may start at once
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), presenceWithin)
			defer cancel()
			_, _ = conn.ExecContext(ctx, `SELECT pg_advisory_unlock_all()`) // a connection that is lost holds nothing
		}
	}
	if !p.locked {
		err = p.conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, p.lock).Scan(&p.locked)
	}
	return p.conn, err
}

// discard closes a connection of a pool for good: with it go its locks.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = conn.Close() // it is bad
}

// drop closes the connection.
func (p *presence) drop() {
	if p.conn != nil {
		discard(p.conn)
		p.conn = nil
	}
}

// leave gives the locks back.
func (p *presence) leave() {
	if p.conn != nil {
		p.release()
		p.drop()
	}
}

// note keeps how the newest renewal went.
func (p *presence) note(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = err
}

// look asks the database for what each prompt needs.
func (p *presence) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, presenceWithin)
	defer cancel()
	var standby bool
	if err := p.db.read.QueryRowContext(ctx, `SELECT pg_is_in_recovery()`).Scan(&standby); err != nil {
		return err
	}
	if standby {
		return errors.New("it is a standby, which takes no writes: correct --db, or promote it")
	}
	rows, err := p.db.read.QueryContext(ctx, `SELECT `+entryColumns+` FROM sessions LIMIT 0`)
	if err != nil {
		return err
	}
	err = rows.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	return cmp.Or(err, p.failed)
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
	if err := s.whyUnusable(); err != nil || s.db.present == nil {
		return err
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
// would break. Gateways of releases before the lock show by the leases of their sessions that they run, in a schema that
// has these. Earlier processes of this gateway do not count.
func (d *db) alone(ctx context.Context, tx *sql.Tx, gateway string, there, needs int64) error {
	var free, owned bool
	err := tx.QueryRowContext(ctx, `SELECT pg_try_advisory_xact_lock($1)`, int64(presenceID)).Scan(&free)
	if err == nil && free && there < leasesThrough {
		err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM places WHERE owner <> '' AND NOT starts_with(owner, $1) AND lease_until > `+d.now+`)`, gateway+":").Scan(&owned)
	}
	if err == nil && (!free || owned) {
		err = fmt.Errorf("its schema has version %d, and the gateways that run on it now cannot go on with version %d: stop all of them first, then start this program", there, needs)
	}
	return err
}
