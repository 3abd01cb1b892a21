package sqllog

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/eventlog"
)

// The statements of every turn.
const (
	beginTurn = `INSERT INTO turns (session, turn, first, sum) VALUES ($1, $2, $3, $4) ON CONFLICT (session, turn) DO NOTHING`
	endTurn   = `UPDATE turns SET last = $3, end_sum = $4 WHERE session = $1 AND turn = $2 AND last = 0`
	movePlace = `UPDATE places SET last = $2, deleted_through = $3, registered = $4, sum = $5 WHERE session = $1`
)

// take is the statement that makes a gateway the owner of a session, unless somebody
// else has taken it since the term before was read, or its owner has renewed its lease. An owner that
// renews at the same time waits, and then sees what was taken.
func (d *db) take() string {
	return `INSERT INTO places (session, owner, term, sum) VALUES ($1, $2, $3, $4)
		ON CONFLICT (session) DO UPDATE SET owner = excluded.owner, term = excluded.term
		WHERE (places.term = excluded.term - 1 OR (places.term = excluded.term AND places.owner = excluded.owner))
			AND NOT COALESCE((SELECT ` + d.runs() + ` FROM gateways g WHERE g.id = places.owner AND g.name <> $5` + d.share + `), false)`
}

// transact does the ops inside the transaction. Ops of a session that this
// gateway does not own are refused, with an error for each such session. The places that
// changed are returned.
func (s *Store) transact(ctx context.Context, tx *sql.Tx, ops []*op) (refused map[*session]error, moved map[*session]place, err error) {
	if refused, err = s.own(ctx, tx, ops); err != nil {
		return nil, nil, err
	}
	var rows []row
	var checkpoints []checkpoint
	newest, places, again := map[*session]uint64{}, map[*session]place{}, false
	for _, o := range ops {
		if refused[o.se] != nil {
			continue
		}
		for i := range o.rows {
			r := &o.rows[i]
			if !o.committed {
				r.prev = cmp.Or(newest[o.se], o.se.durable)
			}
			newest[o.se] = r.seq
			rows = append(rows, *r)
		}
		again = again || o.tried
		if o.begins != 0 {
			if _, err := s.db.exec(ctx, tx, beginTurn, o.se.id, o.turn, o.begins, turnSum(o.se.id, o.turn, o.begins)); err != nil {
				return nil, nil, err
			}
		}
		if o.stops != 0 {
			if _, err := s.db.exec(ctx, tx, endTurn, o.se.id, o.turn, o.stops, turnSum(o.se.id, o.turn, o.stops)); err != nil {
				return nil, nil, err
			}
		}
		checkpoints = append(checkpoints, o.checkpoints...)
		if o.moves != nil {
			p, moved := places[o.se]
			if !moved {
				p = o.se.place
			}
			o.moves(&p)
			places[o.se] = p
			checkpoints = slices.DeleteFunc(checkpoints, func(c checkpoint) bool { return c.session == o.se.id && c.seq <= p.deletedThrough })
		}
		if o.do != nil {
			if err := o.do(ctx, tx); err != nil {
				return nil, nil, err
			}
		}
	}
	for se, p := range places {
		if p == se.place {
			continue
		}
		if _, err := s.db.exec(ctx, tx, movePlace, se.id, p.last, p.deletedThrough, p.registered, p.sum()); err != nil {
			return nil, nil, err
		}
	}
	if len(checkpoints) > 0 {
		if err := s.db.keep(ctx, tx, checkpoints); err != nil {
			return nil, nil, err
		}
	}
	if len(rows) == 0 {
		return refused, places, nil
	}
	n, err := s.db.insert(ctx, tx, rows)
	if err == nil && n != int64(len(rows)) && !again {
		err = errors.New("a record has a number that is taken")
	}
	return refused, places, err
}

// own takes the sessions that this gateway does not own yet, and checks owner and term of the others:
// after a fail-over of the database that lost a commit, two owners may have the same term.
// The order of sessions is the same in every gateway, so that two do not wait for
// each other.
func (s *Store) own(ctx context.Context, tx *sql.Tx, ops []*op) (refused map[*session]error, err error) {
	refused = map[*session]error{}
	var held []*session
	for _, o := range ops {
		if o.se != nil {
			held = append(held, o.se)
		}
	}
	slices.SortFunc(held, func(a, b *session) int { return cmp.Compare(a.id, b.id) })
	held = slices.Compact(held)
	var ours []string
	for _, se := range held {
		if se.term != 0 {
			ours = append(ours, se.id)
		}
	}
	var terms map[string]ownership
	if len(ours) > 0 {
		if terms, err = s.db.terms(ctx, tx, ours); err != nil {
			return nil, err
		}
	}
	for _, se := range held {
		if se.term != 0 {
			if terms[se.id] != (ownership{s.owner, se.term}) {
				refused[se] = fmt.Errorf("session %q: %w", se.id, eventlog.ErrNotOwner)
			}
			continue
		}
		n, err := s.db.exec(ctx, tx, s.db.take(),
			se.id, s.owner, se.seen+1, place{session: se.id}.sum(), s.gateway)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			refused[se] = errMoved
		}
	}
	return refused, nil
}
