package sqllog

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// This file keeps the row by which other gateways know this one, and reads theirs.

var (
	_ eventlog.Neighbours = (*Store)(nil)
	_ eventlog.Member     = (*Store)(nil)
)

const (
	// lookEvery is how often a gateway looks at the rows of the others. At each second look it renews its own.
	lookEvery  = 200 * time.Millisecond
	renewEvery = 300 * time.Millisecond
	// rowsFor is for how long the rows of gateways that have died are kept after their leases.
	rowsFor = time.Hour
)

// The states of a row.
const (
	stateRunning  = "running"
	stateDraining = "draining"
	stateDead     = "dead"
)

// nameOf is the name of the gateway of a process.
func nameOf(owner string) string {
	name, _, _ := strings.Cut(owner, ":")
	return name
}

// runs is the condition of the row g of a gateway that runs.
func (d *db) runs() string { return `g.state <> '` + stateDead + `' AND g.lease_until > ` + d.now }

// rowSession is a connection that keeps the row.
type rowSession interface {
	querier
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// state is that of this gateway.
func (s *Store) state() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return stateDraining
	}
	return stateRunning
}

// Self implements eventlog.Neighbours.
func (s *Store) Self() eventlog.Gateway {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.announced
	g.ID, g.Name, g.Draining = s.owner, s.gateway, s.draining
	return g
}

// Announce implements eventlog.Neighbours.
func (s *Store) Announce(ctx context.Context, address string, key []byte, version string) error {
	s.mu.Lock()
	s.announced = eventlog.Gateway{Address: address, Key: slices.Clone(key), Version: version}
	s.mu.Unlock()
	if s.db.exclusive {
		return ctx.Err()
	}
	return s.submit(ctx, &op{do: s.putRow})
}

// putRow writes the row of this gateway, with a lease that begins now.
func (s *Store) putRow(ctx context.Context, tx *sql.Tx) error {
	g := s.Self()
	key := g.Key
	if key == nil {
		key = []byte{}
	}
	_, err := s.db.exec(ctx, tx, `INSERT INTO gateways (id, name, address, key, version, state, lease_until, lock, started)
			VALUES ($1, $2, $3, $4, $5, $6, `+s.db.now+` + $7, $8, $9)
		ON CONFLICT (id) DO UPDATE SET address = excluded.address, key = excluded.key, version = excluded.version, state = excluded.state, lease_until = excluded.lease_until`,
		g.ID, g.Name, g.Address, key, g.Version, s.state(), s.opts.Lease.Milliseconds(), lockOf(g.ID), s.began.UnixMilli())
	return err
}

// register writes the row at the start. The rows of earlier processes of this gateway go, and those of gateways that have
// died long ago.
func (s *Store) register(ctx context.Context) error {
	if s.db.exclusive {
		return nil
	}
	ctx, cancel := s.db.bounded(ctx, 0)
	defer cancel()
	at := s.uptime()
	tx, err := s.db.begin(ctx, true)
	if err != nil {
		return err
	}
	_, err = s.db.exec(ctx, tx, `DELETE FROM gateways WHERE name = $1 OR lease_until < `+s.db.now+` - $2`, s.gateway, rowsFor.Milliseconds())
	if err == nil {
		err = s.putRow(ctx, tx)
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	s.renewed.Store(at)
	return nil
}

// deregister has the writer remove the row at the end.
func (s *Store) deregister() *op {
	o := &op{began: time.Now(), do: func(ctx context.Context, tx *sql.Tx) error {
		_, err := s.db.exec(ctx, tx, `DELETE FROM gateways WHERE id = $1`, s.owner)
		return err
	}}
	s.enqueue(o)
	return o
}

// keepRow renews the lease again and again until the store closes, and looks at the other gateways.
func (s *Store) keepRow() {
	o := &s.others
	again := time.NewTicker(lookEvery)
	defer again.Stop()
	for {
		select {
		case <-s.open.Done():
			return
		case <-again.C:
		}
		if s.whyUnusable() != nil { // others may take the sessions
			return
		}
		connected := s.db.present != nil && s.db.present.conn != nil
		err := s.beat(o)
		if err != nil && connected { // it is made again at once: others wait for the renewal
			err = s.beat(o)
		}
		if s.db.present != nil {
			s.db.present.note(err)
		}
	}
}

// beat renews the lease if it is time, and looks at the others.
func (s *Store) beat(o *others) error {
	ctx, cancel := context.WithTimeout(s.life, presenceWithin)
	defer cancel()
	if s.db.present == nil {
		return s.renew(ctx, s.db.write)
	}
	if now := s.uptime(); now-s.renewed.Load() >= int64(presenceWithin) { // it was stopped, or the database slow
		o.steady.Store(now)
	}
	on, err := s.db.present.connection(ctx)
	if err == nil {
		err = s.renew(ctx, on)
	}
	if err == nil {
		err = o.look(ctx, on)
	}
	if err != nil {
		s.db.present.drop()
		o.steady.Store(s.uptime())
	}
	return err
}

// renew renews the lease if it is time. The lease counts from the beginning of the statement, so it is over here before
// it is over in the database.
func (s *Store) renew(ctx context.Context, on rowSession) error {
	at := s.uptime()
	if at-s.renewed.Load() < int64(renewEvery) {
		return nil
	}
	n, err := affected(on.ExecContext(ctx, `UPDATE gateways SET lease_until = `+s.db.now+` + $2, state = $3 WHERE id = $1 AND state <> '`+stateDead+`'`,
		s.owner, s.opts.Lease.Milliseconds(), s.state()))
	switch {
	case err != nil:
		return err
	case n == 1 && s.uptime()-s.renewed.Load() < int64(s.opts.Lease): // nobody can have found it over before
		s.renewed.Store(at)
		return nil
	}
	if err = s.do(s.comeBack()); err == nil && n == 0 { //nolint:contextcheck // the writer has its own
		s.opts.Logger.Warn("other gateways have taken this one for dead, because it did not renew its lease in time: sessions that they have taken are lost here")
	}
	return err
}

// comeBack renews a lease that was over, or a row that others have called dead. Sessions that they have taken in between
// are lost. The writer does it, so that it takes no session meanwhile.
func (s *Store) comeBack() *op {
	var at int64
	var kept map[string]ownership
	return &op{
		do: func(ctx context.Context, tx *sql.Tx) (err error) {
			at = s.uptime()
			if err = s.checkName(ctx, tx); err == nil {
				err = s.putRow(ctx, tx)
			}
			if err != nil {
				return err
			}
			kept, err = owners(tx.QueryContext(ctx, `SELECT session, owner, term FROM places WHERE owner = $1`, s.owner))
			return err
		},
		then: func() {
			s.keepOnly(kept)
			s.renewed.Store(at) // last: from now on those that are left are leased
		},
	}
}

// readGateways reads rows of gateways: a part of a statement that names them g.
func (s *Store) readGateways(ctx context.Context, from string, args ...any) (all []eventlog.Gateway, err error) {
	err = s.read(ctx, func(ctx context.Context) error {
		all = nil
		return eachRow(ctx, s.db.read, func(scan func(...any) error) error {
			var g eventlog.Gateway
			err := scan(&g.ID, &g.Name, &g.Address, &g.Key, &g.Version, &g.Draining)
			if len(g.Key) == 0 {
				g.Key = nil
			}
			all = append(all, g)
			return err
		}, `SELECT g.id, g.name, g.address, g.key, g.version, g.state = '`+stateDraining+`' FROM `+from+` AND `+s.db.runs()+` ORDER BY g.name, g.started`, args...)
	})
	return all, err
}

// Gateways implements eventlog.Neighbours.
func (s *Store) Gateways(ctx context.Context) ([]eventlog.Gateway, error) {
	if s.db.exclusive {
		return []eventlog.Gateway{s.Self()}, ctx.Err()
	}
	return s.readGateways(ctx, `gateways g WHERE true`)
}

// OwnerOf implements eventlog.Neighbours.
func (s *Store) OwnerOf(ctx context.Context, id string) (eventlog.Gateway, bool, error) {
	switch {
	case s.Owned(id) != 0:
		return s.Self(), true, ctx.Err()
	case s.db.exclusive, !plain(id):
		return eventlog.Gateway{}, false, ctx.Err()
	}
	all, err := s.readGateways(ctx, `places p JOIN gateways g ON g.id = p.owner WHERE p.session = $1`, id)
	if err != nil || len(all) == 0 {
		return eventlog.Gateway{}, false, err
	}
	return all[0], true, nil
}

// Died implements eventlog.DeathNotifier.
func (s *Store) Died() <-chan struct{} { return s.died }
