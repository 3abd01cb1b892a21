package sqllog

import (
	"context"
	"database/sql"
	"sync"
)

// reader is the connections that read.
type reader struct {
	*sql.DB
	// compiled has each query compiled, once for each connection. It is nil where the
	// driver does that by itself. SQLite needs as long to compile a query as to answer it.
	compiled *sync.Map // of *sql.Stmt, by query
}

func compiling(pool *sql.DB) *reader { return &reader{DB: pool, compiled: &sync.Map{}} }

func (r *reader) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, ok := r.compiled.Load(query); ok {
		return stmt.(*sql.Stmt), nil //nolint:forcetypeassert,errcheck // see compiled
	}
	stmt, err := r.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if first, there := r.compiled.LoadOrStore(query, stmt); there {
		return first.(*sql.Stmt), stmt.Close() //nolint:forcetypeassert // see compiled
	}
	return stmt, nil
}

// QueryContext is that of [sql.DB].
func (r *reader) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if r.compiled == nil {
		return r.DB.QueryContext(ctx, query, args...)
	}
	stmt, err := r.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// querier is the connections that read, a database, or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// eachRow reads the rows of an answer until one of them is an error.
func eachRow(ctx context.Context, from querier, one func(scan func(...any) error) error, query string, args ...any) error {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	return scanRows(rows, one)
}

// scanRows is eachRow for an answer that is there, and closes it.
func scanRows(rows *sql.Rows, one func(scan func(...any) error) error) error {
	defer rows.Close() //nolint:errcheck // Err says what matters
	for rows.Next() {
		if err := one(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// QueryRowContext is that of [sql.DB].
func (r *reader) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if r.compiled != nil {
		if stmt, err := r.statement(ctx, query); err == nil {
			return stmt.QueryRowContext(ctx, args...)
		}
	}
	return r.DB.QueryRowContext(ctx, query, args...)
}
