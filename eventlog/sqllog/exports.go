package sqllog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// This file keeps how far exporters are. Its rows have no checksums: by a damaged one turns are
// sent twice, or not at all.

// claimLeases is for how many leases a gateway keeps others from a session that it exports.
const claimLeases = 4

// AddExporter implements eventlog.Exports.
func (s *Store) AddExporter(ctx context.Context, exporter string, backfill bool) error {
	return s.submit(ctx, &op{do: func(ctx context.Context, tx *sql.Tx) error {
		n, err := s.db.exec(ctx, tx, `INSERT INTO exports (session, exporter, seq, owner, lease_until) VALUES ('', $1, 0, '', 0) ON CONFLICT (session, exporter) DO NOTHING`, exporter)
		if err != nil || backfill || n == 0 {
			return err
		}
		_, err = s.db.exec(ctx, tx, `INSERT INTO exports (session, exporter, seq, owner, lease_until)
			SELECT t.session, CAST($1 AS text), COALESCE((SELECT max(r.seq) FROM records r WHERE r.session = t.session), max(t.last)), '', 0
			FROM turns t WHERE t.last > 0 AND t.session <> '' GROUP BY t.session ON CONFLICT (session, exporter) DO NOTHING`, exporter)
		return err
	}})
}

// submit has the writer do something that belongs to no session's records, and waits.
func (s *Store) submit(ctx context.Context, o *op) error {
	done, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return s.do(o)
}

// waits is the condition of a turn that waits for the exporter $1.
const waits = `t.session = s.id AND t.last > COALESCE((SELECT e.seq FROM exports e WHERE e.session = s.id AND e.exporter = $1), 0)`

// ofAgents is the condition of sessions with one of the agents.
func ofAgents(agents []string, args []any) (string, []any) {
	if len(agents) == 0 {
		return "", args
	}
	in := make([]string, len(agents))
	for i, a := range agents {
		args = append(args, column(a))
		in[i] = fmt.Sprintf("$%d", len(args))
	}
	return " AND s.agent IN (" + strings.Join(in, ", ") + ")", args
}

// Unsent implements eventlog.Exports.
func (s *Store) Unsent(ctx context.Context, exporter string, q eventlog.UnsentQuery) (all []eventlog.UnsentSession, err error) {
	since := int64(0)
	if !q.After.Updated.IsZero() {
		since = q.After.Updated.UnixMicro()
	}
	of, args := ofAgents(q.Agents, []any{exporter, since, q.After.Session, q.Limit})
	if !s.db.exclusive {
		args = append(args, s.gateway)
		of += fmt.Sprintf(` AND NOT EXISTS (SELECT 1 FROM places p JOIN gateways g ON g.id = p.owner WHERE p.session = s.id AND g.name <> $%d AND %s)`, len(args), s.db.runs())
	}
	err = s.read(ctx, func(ctx context.Context) error {
		all = nil
		return eachRow(ctx, s.db.read, func(scan func(...any) error) error {
			var id str
			var updated num
			err := scan(&id, &updated)
			all = append(all, eventlog.UnsentSession{Session: string(id), Updated: time.UnixMicro(int64(updated)).UTC()})
			return err
		}, `SELECT s.id, s.updated_at FROM sessions s WHERE (s.updated_at, s.id) > ($2, $3)`+of+
			` AND EXISTS (SELECT 1 FROM turns t WHERE `+waits+`) ORDER BY s.updated_at, s.id LIMIT $4`, args...)
	})
	return all, err
}

// NextUnsent implements eventlog.Exports.
func (s *Store) NextUnsent(ctx context.Context, exporter, id string, agents []string) (t eventlog.UnsentTurn, ok bool, err error) {
	done, err := s.begin(ctx)
	if err != nil {
		return t, false, err
	}
	defer done()
	if !plain(id) {
		return t, false, nil
	}
	for after := uint64(0); ; after = t.Last {
		of, args := ofAgents(agents, []any{exporter, id, after})
		var whole bool
		err = s.reading(ctx, func(ctx context.Context) error {
			var agent, turn str
			var position, first, last, sum, end num
			err := s.db.read.QueryRowContext(ctx, `SELECT s.agent, COALESCE((SELECT e.seq FROM exports e WHERE e.session = s.id AND e.exporter = $1), 0), t.turn, t.first, t.last, t.sum, t.end_sum
				FROM sessions s JOIN turns t ON `+waits+` WHERE s.id = $2 AND t.last > $3`+of+` ORDER BY t.last LIMIT 1`, args...).Scan(&agent, &position, &turn, &first, &last, &sum, &end)
			if ok = !errors.Is(err, sql.ErrNoRows); err != nil {
				return err
			}
			t = eventlog.UnsentTurn{TurnMark: eventlog.TurnMark{Turn: string(turn), First: first.seq(), Last: last.seq()}, Agent: string(agent), Position: position.seq()}
			if whole = turnSum(id, t.Turn, t.First) == int64(sum) && turnSum(id, t.Turn, t.Last) == int64(end); !whole {
				s.note(id, "the place of a turn")
			}
			return nil
		})
		switch {
		case !ok:
			return eventlog.UnsentTurn{}, false, nil
		case err != nil:
			return eventlog.UnsentTurn{}, false, err
		case whole && s.db.exclusive:
			return t, true, nil
		case whole:
			ok, err = s.claim(exporter, id, t.Last)
			return t, ok, err
		}
	}
}

// claim keeps other gateways from a session, unless one of them keeps this one from it.
func (s *Store) claim(exporter, id string, last uint64) (ok bool, err error) {
	lease := claimLeases * s.opts.Lease.Milliseconds()
	err = s.do(&op{lazy: true, do: func(ctx context.Context, tx *sql.Tx) error {
		n, err := s.db.exec(ctx, tx, `INSERT INTO exports (session, exporter, seq, owner, lease_until)
			SELECT session, CAST($2 AS text), 0, CAST($4 AS text), `+s.db.now+` + $5 FROM turns WHERE session = $1 AND last = $3
			ON CONFLICT (session, exporter) DO UPDATE SET owner = excluded.owner, lease_until = excluded.lease_until
			WHERE (exports.owner = excluded.owner OR exports.lease_until <= `+s.db.now+`) AND exports.seq < $3`, id, exporter, last, s.gateway, lease)
		ok = n > 0
		return err
	}})
	return ok && err == nil, err
}

// Sent implements eventlog.Exports.
func (s *Store) Sent(ctx context.Context, exporter, id string, stop uint64) error {
	return s.submit(ctx, &op{lazy: true, do: func(ctx context.Context, tx *sql.Tx) error {
		_, err := s.db.exec(ctx, tx, `INSERT INTO exports (session, exporter, seq, owner, lease_until)
			SELECT session, CAST($2 AS text), last, '', 0 FROM turns WHERE session = $1 AND last = $3
			ON CONFLICT (session, exporter) DO UPDATE SET seq = excluded.seq, owner = '', lease_until = 0 WHERE exports.seq < excluded.seq`, id, exporter, stop)
		return err
	}})
}

// Position implements eventlog.Exports.
func (s *Store) Position(ctx context.Context, exporter, id string, agents []string) (stop uint64, ok bool, err error) {
	of, args := ofAgents(agents, []any{exporter, id})
	err = s.read(ctx, func(ctx context.Context) error {
		if !plain(id) {
			return nil
		}
		var position num
		err := s.db.read.QueryRowContext(ctx, `SELECT COALESCE((SELECT e.seq FROM exports e WHERE e.session = s.id AND e.exporter = $1), 0) FROM sessions s WHERE s.id = $2`+of, args...).Scan(&position)
		if ok = err == nil; ok {
			stop = position.seq()
		}
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return stop, ok, err
}

// CountUnsent implements eventlog.Exports.
func (s *Store) CountUnsent(ctx context.Context, exporter string, agents []string) (n int, err error) {
	of, args := ofAgents(agents, []any{exporter})
	err = s.read(ctx, func(ctx context.Context) error {
		return s.db.read.QueryRowContext(ctx, `SELECT CAST(COALESCE(sum((SELECT count(*) FROM turns t WHERE `+waits+`)), 0) AS bigint) FROM sessions s WHERE true`+of, args...).Scan(&n)
	})
	return n, err
}
