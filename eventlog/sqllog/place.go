package sqllog

import (
	"context"
	"database/sql"

	"github.com/tributary-dev/tributary/eventlog"
)

// place is where a session stands in the database, also after its end.
type place struct {
	session              string
	last, deletedThrough uint64
	registered           int // 1: the registry has it
}

func (p place) sum() int64 {
	return sum(0).text(p.session).seqs(p.last, p.deletedThrough).num(int64(p.registered)).value()
}

// standing is a place with its owner, and the newest records.
type standing struct {
	place
	owner                 string
	term                  int64
	alive                 bool // the owner runs
	peopled               bool // it has members
	durable, checkpointed uint64
	numbersFrom           uint64 // of the store
}

// ownership is who may write to a session.
type ownership struct {
	owner string
	term  int64
}

// owners reads the names of sessions, their owners and terms.
func owners(rows *sql.Rows, err error) (map[string]ownership, error) {
	if err != nil {
		return nil, err
	}
	all := map[string]ownership{}
	err = scanRows(rows, func(scan func(...any) error) error {
		var session string
		var o ownership
		err := scan(&session, &o.owner, &o.term)
		all[session] = o
		return err
	})
	return all, err
}

// scanPlace reads a place, its session first and its checksum last. One that is damaged
// has no name.
func scanPlace(scan func(...any) error, others ...any) (p place, err error) {
	var session str
	var last, deletedThrough, registered, sum num
	if err = scan(append([]any{&session, &last, &deletedThrough, &registered, &sum}, others...)...); err != nil {
		return p, err
	}
	p = place{string(session), last.seq(), deletedThrough.seq(), int(registered)}
	if p.sum() != int64(sum) {
		return place{}, nil
	}
	return p, nil
}

// stands reads where a session stands. A session that has records or members and no place,
// or one that cannot be trusted, is damaged: its records may be deleted ones.
func (s *Store) stands(ctx context.Context, id string) (now standing, err error) {
	var owner str
	var term, durable, checkpointed, from num
	now.place, err = scanPlace(s.db.read.QueryRowContext(ctx, `SELECT COALESCE(p.session, $1), COALESCE(last, 0), COALESCE(deleted_through, 0), COALESCE(registered, 0), COALESCE(sum, $2),
			COALESCE(owner, ''), COALESCE(term, 0), EXISTS (SELECT 1 FROM gateways g WHERE g.id = p.owner AND `+s.db.runs()+`), newest, kept,
			EXISTS (SELECT 1 FROM members WHERE session = $1), (SELECT max(numbers_from) FROM store)
		FROM (SELECT COALESCE((SELECT max(seq) FROM records WHERE session = $1), 0) AS newest, COALESCE((SELECT max(seq) FROM checkpoints WHERE session = $1), 0) AS kept) AS numbers
		LEFT JOIN places p ON p.session = $1`, id, place{session: id}.sum()).Scan, &owner, &term, &now.alive, &durable, &checkpointed, &now.peopled, &from)
	now.owner, now.term, now.durable, now.checkpointed, now.numbersFrom = string(owner), int64(term), durable.seq(), checkpointed.seq(), from.seq()
	if err == nil && (now.session == "" || term == 0 && (durable+checkpointed != 0 || now.peopled)) {
		return now, s.damage(id, "what says which of its records count")
	}
	return now, err
}

// damage notes what is damaged of a session, and is the error of it.
func (s *Store) damage(id, what string) error {
	s.note(id, what)
	return &eventlog.DamageError{Session: id, What: what}
}
