package sqllog

import (
	"context"
	"hash/fnv"
	"math"
	"sync/atomic"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// This file finds out that another gateway has died.

// judgeAfter is for how long a gateway whose lock is free may renew nothing before others judge it
// dead. A gateway shows no text without the database for longer than that after a renewal.
const judgeAfter = 750 * time.Millisecond

// lockOf is the advisory lock in PostgreSQL that the process of a gateway holds, on the connection by which it
// renews its lease. The server frees it when the process ends, and not when the process is stopped.
func lockOf(id string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("tributary gateway " + id)) // it takes everything
	return int64(h.Sum64())                           //nolint:gosec // any bits are a lock
}

// sign is what this gateway has seen of another one.
type sign struct {
	lease int64     // as its row has it
	since time.Time // when it was seen so first, or when its lock was seen held last
}

// others are the other gateways on the database. Only keepRow changes them.
type others struct {
	s    *Store
	seen map[string]sign
	// steady is since when (Store.uptime) this gateway has renewed its own lease in time, on one connection. One that
	// could not for a moment of the last lease judges nobody: what kept it from the database may keep all.
	steady atomic.Int64
	looks  atomic.Int64 // so far
	run    atomic.Int64 // how many did at the last look
	died   atomic.Int64 // that this gateway has found dead
}

// Among implements eventlog.Member.
func (s *Store) Among() eventlog.Among {
	a := eventlog.Among{Gateways: 1 + int(s.others.run.Load()), Judges: s.db.exclusive || s.others.judge(), Died: uint64(s.others.died.Load()), Lease: math.MaxInt64, Outage: math.MaxInt64} //nolint:gosec // it counts from 0
	if !s.db.exclusive {
		since := time.Duration(s.uptime() - s.renewed.Load())
		a.Lease, a.Outage = s.opts.Lease-since, s.opts.Outage-since
	}
	for _, se := range s.all() {
		se.mu.Lock()
		if se.term != 0 {
			a.Owned++
		}
		se.mu.Unlock()
	}
	return a
}

// judge reports whether this gateway may judge others.
func (o *others) judge() bool { return o.s.uptime()-o.steady.Load() >= int64(o.s.opts.Lease) }

// suspect is a gateway that has not renewed its lease since the look before.
type suspect struct {
	id          string
	lock, lease int64
	over        bool // its lease
}

// look compares the rows of the others with the look before.
func (o *others) look(ctx context.Context, on rowSession) error {
	began := time.Now()
	var all []suspect
	err := eachRow(ctx, on, func(scan func(...any) error) error {
		var g suspect
		err := scan(&g.id, &g.lock, &g.lease, &g.over)
		all = append(all, g)
		return err
	}, `SELECT id, lock, lease_until, lease_until <= `+o.s.db.now+` FROM gateways WHERE id <> $1 AND state <> '`+stateDead+`'`, o.s.owner)
	if err != nil {
		return err
	}
	seen, run := map[string]sign{}, int64(0)
	for _, g := range all {
		if !g.over {
			run++
		}
		now, known := o.seen[g.id]
		if !known || now.lease != g.lease {
			now = sign{lease: g.lease, since: time.Now()}
		}
		silent := began.Sub(now.since)
		dead := g.over
		if !dead && silent >= renewEvery {
			held, err := isHeld(ctx, on, g.lock)
			if err != nil {
				return err
			}
			if dead = !held && silent >= judgeAfter; held {
				now.since = time.Now()
			}
		}
		seen[g.id] = now
		if dead && o.judge() {
			if err := o.callDead(ctx, on, g); err != nil {
				return err
			}
		}
	}
	o.seen = seen
	o.run.Store(run)
	o.looks.Add(1)
	return nil
}

// isHeld reports whether the process of a gateway has its lock.
func isHeld(ctx context.Context, on rowSession, lock int64) (held bool, err error) {
	err = eachRow(ctx, on, func(scan func(...any) error) error { return scan(&held) },
		`SELECT true FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND (classid::bigint << 32) | objid::bigint = $1
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, lock)
	return held, err
}

// callDead calls a gateway dead that has still not renewed its lease. Of several gateways that do, one hears of it.
func (o *others) callDead(ctx context.Context, on rowSession, g suspect) error {
	n, err := affected(on.ExecContext(ctx, `UPDATE gateways SET state = '`+stateDead+`' WHERE id = $1 AND lease_until = $2 AND state <> '`+stateDead+`'`, g.id, g.lease))
	if err != nil || n == 0 {
		return err
	}
	o.died.Add(1)
	o.s.opts.Logger.Warn("another gateway has died: its sessions are free", "gateway", g.id, "lease_over", g.over)
	select {
	case o.s.died <- struct{}{}:
	default:
	}
	return nil
}
