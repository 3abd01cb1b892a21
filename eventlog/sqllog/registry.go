package sqllog

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// Put implements eventlog.Registry.
func (s *Store) Put(ctx context.Context, e eventlog.Entry) error {
	_, err := s.AppendWith(ctx, e, "", nil)
	return err
}

// AppendWith implements eventlog.Store.
func (s *Store) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	return s.change(ctx, e.Session, func(se *session) *op {
		o, kept := &op{se: se, turn: turn, under: int64(e.Term), moves: func(p *place) { p.registered = 1 }}, false //nolint:gosec // it counts from 1
		w := entryOf(e)
		o.do = func(ctx context.Context, tx *sql.Tx) error {
			n, err := s.db.exec(ctx, tx, putSession, w.id, w.agent, w.title, w.kind, w.by, w.created, w.updated, w.phase, w.members, w.archived, w.doc, w.sum())
			if kept = n > 0; err != nil || !kept {
				return err
			}
			if se.changedIn != tx && se.members != nil && maps.Equal(se.members, e.Members) {
				return nil
			}
			se.changedIn = tx
			return s.putMembers(ctx, tx, e)
		}
		o.then = func() {
			if !kept {
				return
			}
			se.members = maps.Collect(maps.All(e.Members)) // not nil: these are known
		}
		return o
	}, events...)
}

// The statements of each change of a session's document.
const (
	putSession = `INSERT INTO sessions (` + entryColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (id) DO UPDATE SET agent = excluded.agent,
		title = excluded.title, kind = excluded.kind, created_by = excluded.created_by, created_at = excluded.created_at, updated_at = excluded.updated_at,
		phase = excluded.phase, members = excluded.members, archived = excluded.archived, doc = excluded.doc, sum = excluded.sum
		WHERE sessions.updated_at <= excluded.updated_at`
	removeMembers = `DELETE FROM members WHERE session = $1`
	addMember     = `INSERT INTO members (session, person, role, sum) VALUES ($1, $2, $3, $4) ON CONFLICT (session, person) DO NOTHING`
)

// column makes text fit for a column that people search and read: the document has
// the text itself.
func column(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

func (s *Store) putMembers(ctx context.Context, tx *sql.Tx, e eventlog.Entry) error {
	if _, err := s.db.exec(ctx, tx, removeMembers, e.Session); err != nil {
		return err
	}
	for person, role := range e.Members {
		if _, err := s.db.exec(ctx, tx, addMember, e.Session, column(person), column(role), memberSum(e.Session, column(person), column(role))); err != nil {
			return err
		}
	}
	return nil
}

// Get implements eventlog.Registry.
func (s *Store) Get(ctx context.Context, id string) (doc []byte, err error) {
	err = s.read(ctx, func(ctx context.Context) error {
		if !plain(id) {
			return eventlog.ErrNoSession
		}
		e, err := scanEntry(s.db.read.QueryRowContext(ctx, `SELECT `+entryColumns+` FROM sessions WHERE id = $1`, id).Scan)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			now, err := s.stands(ctx, id)
			if err == nil && now.registered != 0 {
				err = s.damage(id, "its entry")
			}
			return cmp.Or(err, eventlog.ErrNoSession)
		case err == nil && !e.whole():
			return s.damage(id, "its entry")
		}
		doc = []byte(e.doc)
		return err
	})
	return doc, err
}

// Count implements eventlog.Registry.
func (s *Store) Count(ctx context.Context) (n int, err error) {
	err = s.read(ctx, func(ctx context.Context) error {
		return s.db.read.QueryRowContext(ctx, `SELECT count(*) FROM sessions`).Scan(&n)
	})
	return n, err
}

// The lists of all sessions, and of those of a person. Those that the person made have no
// row of a member.
const (
	entryColumns = `id, agent, title, kind, created_by, created_at, updated_at, phase, members, archived, doc, sum`
	listAll      = `SELECT ` + entryColumns + `, '', 0 FROM sessions WHERE %[1]s ORDER BY updated_at DESC, id DESC LIMIT $3`
	listPerson   = `SELECT * FROM (
			SELECT * FROM (SELECT ` + entryColumns + `, '' AS role, 0 AS member_sum FROM sessions WHERE created_by = $4 AND %[1]s
				ORDER BY updated_at DESC, id DESC LIMIT $3) AS made
			UNION ALL SELECT * FROM (SELECT s.id, agent, title, kind, created_by, created_at, updated_at, phase, members, archived, doc, s.sum, m.role, m.sum
				FROM members m JOIN sessions s ON s.id = m.session WHERE m.person = $4 AND s.created_by <> $4 AND %[1]s
				ORDER BY updated_at DESC, id DESC LIMIT $3) AS joined
		) AS both_lists ORDER BY updated_at DESC, id DESC LIMIT $3`
)

// list is the statement for a page of a list, with its arguments.
func (d *db) list(q eventlog.Query, before int64, id string, limit int) (query string, args []any) {
	query, args = listAll, []any{before, id, limit}
	of, where := "", "(updated_at, id) < ($1, $2)"
	if q.Person != "" {
		query, args = listPerson, append(args, column(q.Person))
		of = `SELECT id FROM sessions WHERE created_by = $4 UNION ALL SELECT session FROM members WHERE person = $4`
	}
	if q.Agent != "" {
		args = append(args, column(q.Agent))
		where += fmt.Sprintf(" AND agent = $%d", len(args))
	}
	if q.Archived != nil {
		where += fmt.Sprintf(" AND archived = %d", flag(*q.Archived))
	}
	switch len(q.Phases) {
	case 0:
	case 1:
		where += fmt.Sprintf(" AND phase = %d", q.Phases[0])
		if q.Phases[0] != eventlog.Closed {
			where += " AND phase <> 0" // as the index has it
		}
	default:
		in := make([]string, len(q.Phases))
		for i, p := range q.Phases {
			in[i] = strconv.FormatInt(int64(p), 10)
		}
		where += " AND phase IN (" + strings.Join(in, ", ") + ")"
	}
	if len(q.Words) == 0 {
		return fmt.Sprintf(query, where), args
	}
	found, words := d.words.find(q.Words, len(args)+1, of)
	return "WITH found AS MATERIALIZED (" + found + ") " + fmt.Sprintf(query, where+" AND id IN (SELECT session FROM found)"), append(args, words...)
}

// List implements eventlog.Registry. It does not read the members.
func (s *Store) List(ctx context.Context, q eventlog.Query) iter.Seq2[eventlog.Entry, error] {
	return func(yield func(eventlog.Entry, error) bool) {
		before, id := int64(math.MaxInt64), ""
		if !q.Before.IsZero() {
			before = q.Before.UnixMicro()
		}
		limit := fullPage / 4 // the page of a list on a screen
		for listed := 0; q.Limit == 0 || listed < q.Limit; limit = fullPage {
			if q.Limit != 0 {
				limit = min(limit, q.Limit-listed)
			}
			entries, last, err := s.entries(ctx, q, before, id, limit)
			if err != nil {
				yield(eventlog.Entry{}, err)
				return
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
			if listed += len(entries); last == nil {
				return
			}
			before, id = last.updated, last.id
		}
	}
}

// entries reads a page of the list, and its last row if there may be more.
func (s *Store) entries(ctx context.Context, q eventlog.Query, before int64, id string, limit int) (entries []eventlog.Entry, last *entryRow, err error) {
	query, args := s.db.list(q, before, id, limit)
	err = s.read(ctx, func(ctx context.Context) error {
		entries, last = nil, nil
		n := 0
		err := eachRow(ctx, s.db.read, func(scan func(...any) error) error {
			var role str
			var member num
			w, err := scanEntry(scan, &role, &member)
			if err != nil {
				return err
			}
			n++
			last = &w
			if q.Person != "" && w.by != column(q.Person) && memberSum(w.id, column(q.Person), string(role)) != int64(member) {
				s.note(w.id, "a member")
				return nil
			}
			if !w.whole() {
				s.note(w.id, "its entry")
			}
			entries = append(entries, w.entry())
			return nil
		}, query, args...)
		if n < limit {
			last = nil
		}
		return err
	})
	return entries, last, err
}
