package sqllog

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"maps"
	"math"
	"strings"
	"time"

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
		o, kept := &op{se: se, turn: turn}, false
		o.do = func(ctx context.Context, tx *sql.Tx) error {
			result, err := s.db.exec(ctx, tx, putSession, e.Session, column(e.Agent), column(e.Title), column(e.Kind), column(e.CreatedBy),
				e.CreatedAt.UnixMilli(), e.Updated.UnixMicro(), string(e.Doc), number(e.Open))
			if err != nil {
				return err
			}
			n, err := result.RowsAffected()
			if kept = n > 0; err != nil || !kept || se.membersIn != tx && se.members != nil && maps.Equal(se.members, e.Members) {
				return err
			}
			se.membersIn = tx
			return s.putMembers(ctx, tx, e)
		}
		o.then = func() {
			if !kept {
				return
			}
			if se.members = maps.Clone(e.Members); se.members == nil {
				se.members = map[string]string{}
			}
		}
		return o
	}, events...)
}

const putSession = `UPDATE sessions SET agent = $2, title = $3, kind = $4, created_by = $5, created_at = $6, updated_at = $7, doc = $8, unfinished = $9
	WHERE id = $1 AND updated_at <= $7`

// number is how the databases keep what is true or false.
func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

// column makes text fit for a column that people search and read: the document has
// the text itself.
func column(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

func (s *Store) putMembers(ctx context.Context, tx *sql.Tx, e eventlog.Entry) error {
	if _, err := s.db.exec(ctx, tx, `DELETE FROM members WHERE session = $1`, e.Session); err != nil {
		return err
	}
	for person, role := range e.Members {
		if _, err := s.db.exec(ctx, tx, `INSERT INTO members (session, person, role) VALUES ($1, $2, $3) ON CONFLICT (session, person) DO NOTHING`, e.Session, column(person), column(role)); err != nil {
			return err
		}
	}
	return nil
}

// Get implements eventlog.Registry.
func (s *Store) Get(ctx context.Context, id string) (doc []byte, err error) {
	done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if !plain(id) {
		return nil, eventlog.ErrNoSession
	}
	err = s.reading(ctx, func(ctx context.Context) error {
		err := s.db.read.QueryRowContext(ctx, `SELECT doc FROM sessions WHERE id = $1 AND doc IS NOT NULL`, id).Scan(&doc)
		if errors.Is(err, sql.ErrNoRows) {
			return eventlog.ErrNoSession
		}
		return err
	})
	return doc, err
}

// Count implements eventlog.Registry.
func (s *Store) Count(ctx context.Context) (n int, err error) {
	done, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	err = s.reading(ctx, func(ctx context.Context) error {
		return s.db.read.QueryRowContext(ctx, `SELECT count(*) FROM sessions WHERE `+isSession).Scan(&n)
	})
	return n, err
}

// The lists of all sessions, and of those of a person.
const (
	isSession    = `doc IS NOT NULL`
	entryColumns = `id, agent, title, kind, created_by, created_at, updated_at, doc, unfinished`
	listAll      = `SELECT ` + entryColumns + ` FROM sessions WHERE ` + isSession + ` AND (updated_at, id) < ($1, $2) ORDER BY updated_at DESC, id DESC LIMIT $3`
	listPerson   = `SELECT ` + entryColumns + ` FROM (
			SELECT * FROM (SELECT ` + entryColumns + ` FROM sessions WHERE ` + isSession + ` AND created_by = $4 AND (updated_at, id) < ($1, $2) ORDER BY updated_at DESC, id DESC LIMIT $3) AS made
			UNION SELECT * FROM (SELECT ` + entryColumns + ` FROM sessions WHERE ` + isSession + ` AND (updated_at, id) < ($1, $2)
				AND id IN (SELECT session FROM members WHERE person = $4) ORDER BY updated_at DESC, id DESC LIMIT $3) AS joined
		) AS both_lists ORDER BY updated_at DESC, id DESC LIMIT $3`
)

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
			entries, err := s.entries(ctx, q, before, id, limit)
			if err != nil {
				yield(eventlog.Entry{}, err)
				return
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
				before, id = e.Updated.UnixMicro(), e.Session
			}
			if listed += len(entries); len(entries) < limit {
				return
			}
		}
	}
}

func (s *Store) entries(ctx context.Context, q eventlog.Query, before int64, id string, limit int) (entries []eventlog.Entry, err error) {
	done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	query, args := listAll, []any{before, id, limit}
	if q.Person != "" {
		query, args = listPerson, append(args, column(q.Person))
	}
	if q.Open {
		query = strings.ReplaceAll(query, isSession, isSession+" AND unfinished <> 0")
	}
	err = s.reading(ctx, func(ctx context.Context) error {
		entries = nil
		rows, err := s.db.read.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Err says what matters
		for rows.Next() {
			var e eventlog.Entry
			var created, updated, open int64
			if err := rows.Scan(&e.Session, &e.Agent, &e.Title, &e.Kind, &e.CreatedBy, &created, &updated, &e.Doc, &open); err != nil {
				return err
			}
			e.Open, e.CreatedAt, e.Updated = open != 0, time.UnixMilli(created).UTC(), time.UnixMicro(updated).UTC()
			entries = append(entries, e)
		}
		return rows.Err()
	})
	return entries, err
}

// Remove implements eventlog.Registry. The row of the session stays, because it has
// the session's numbers.
func (s *Store) Remove(ctx context.Context, id string) error {
	_, err := s.change(ctx, id, func(se *session) *op {
		return &op{se: se, then: func() { se.members = nil }, do: func(ctx context.Context, tx *sql.Tx) error {
			se.membersIn = tx
			if _, err := s.db.exec(ctx, tx, `DELETE FROM members WHERE session = $1`, id); err != nil {
				return err
			}
			_, err := s.db.exec(ctx, tx, `UPDATE sessions SET agent = '', title = '', kind = '', created_by = '', created_at = 0, updated_at = 0, unfinished = 0, doc = NULL WHERE id = $1`, id)
			return err
		}}
	})
	return err
}
