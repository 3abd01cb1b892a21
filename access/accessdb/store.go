// Package accessdb keeps tokens and sign-ins in a database: in the file access.db of the
// data directory, or in PostgreSQL beside the log, where all gateways find them. Several
// processes may use a store at once, so that `tributary token` works while a gateway runs.
package accessdb

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/access"
)

// Store implements access.Store.
type Store struct {
	db    *sql.DB
	where string // for errors
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// fault says where an error comes from. The URL of the database may hold a secret.
func (s *Store) fault(err error) error {
	if err == nil {
		return nil
	}
	return &storeError{s.where, err}
}

// storeError is one line, whatever the driver writes.
type storeError struct {
	where string
	err   error
}

func (e *storeError) Error() string {
	return "the tokens and sign-ins in " + e.where + " cannot be used: " + strings.Join(strings.Fields(e.err.Error()), " ")
}

func (e *storeError) Unwrap() error { return e.err }

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func timeOf(millis int64) time.Time {
	if millis == 0 {
		return time.Time{}
	}
	return time.UnixMilli(millis)
}

// Put implements access.Store. It removes what has expired.
func (s *Store) Put(ctx context.Context, kind access.Kind, e access.Entry) error {
	if _, err := s.db.ExecContext(ctx, `DELETE FROM access_entries WHERE expires > 0 AND expires <= $1`, time.Now().UnixMilli()); err != nil {
		return s.fault(err)
	}
	done, err := s.db.ExecContext(ctx, `INSERT INTO access_entries (kind, id, name, owner, created, expires, doc) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
		string(kind), e.ID, e.Name, e.Owner, millis(e.Created), millis(e.Expires), text(e.Doc))
	return s.changed(done, err, access.ErrTaken)
}

func text(doc []byte) string { return base64.StdEncoding.EncodeToString(doc) }

// changed returns none if a statement has changed no row.
func (s *Store) changed(done sql.Result, err, none error) error {
	if err != nil {
		return s.fault(err)
	}
	n, err := done.RowsAffected()
	if err == nil && n == 0 {
		return none
	}
	return s.fault(err)
}

const columns = `SELECT id, name, owner, created, expires, doc FROM access_entries WHERE kind = $1 AND (expires = 0 OR expires > $2)`

func scan(row interface{ Scan(into ...any) error }) (e access.Entry, err error) {
	var created, expires int64
	var doc string
	if err := row.Scan(&e.ID, &e.Name, &e.Owner, &created, &expires, &doc); err != nil {
		return access.Entry{}, err
	}
	e.Created, e.Expires = timeOf(created), timeOf(expires)
	e.Doc, err = base64.StdEncoding.DecodeString(doc)
	return e, err
}

// Get implements access.Store.
func (s *Store) Get(ctx context.Context, kind access.Kind, id string) (access.Entry, error) {
	e, err := scan(s.db.QueryRowContext(ctx, columns+` AND id = $3`, string(kind), time.Now().UnixMilli(), id))
	if errors.Is(err, sql.ErrNoRows) {
		return access.Entry{}, access.ErrUnknown
	}
	return e, s.fault(err)
}

// List implements access.Store.
func (s *Store) List(ctx context.Context, kind access.Kind, owner string) ([]access.Entry, error) {
	query, values := columns, []any{string(kind), time.Now().UnixMilli()}
	if owner != "" {
		query, values = query+` AND owner IN ($3, '')`, append(values, owner)
	}
	rows, err := s.db.QueryContext(ctx, query+` ORDER BY created, name`, values...)
	if err != nil {
		return nil, s.fault(err)
	}
	defer rows.Close()
	all := []access.Entry{}
	for rows.Next() {
		e, err := scan(rows)
		if err != nil {
			return nil, s.fault(err)
		}
		all = append(all, e)
	}
	return all, s.fault(rows.Err())
}

// Delete implements access.Store.
func (s *Store) Delete(ctx context.Context, kind access.Kind, name string) error {
	done, err := s.db.ExecContext(ctx, `DELETE FROM access_entries WHERE kind = $1 AND name = $2`, string(kind), name)
	return s.changed(done, err, access.ErrUnknown)
}

// Update implements access.Store.
func (s *Store) Update(ctx context.Context, kind access.Kind, e access.Entry, was []byte) error {
	done, err := s.db.ExecContext(ctx, `UPDATE access_entries SET doc = $1, expires = $2 WHERE kind = $3 AND id = $4 AND doc = $5 AND (expires = 0 OR expires > $6)`,
		text(e.Doc), millis(e.Expires), string(kind), e.ID, text(was), time.Now().UnixMilli())
	return s.changed(done, err, access.ErrUnknown)
}
