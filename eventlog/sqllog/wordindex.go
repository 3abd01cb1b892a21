package sqllog

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// This file has the index of words in SQLite, and that in PostgreSQL.

// sqliteWords is an index of FTS5. The table of words keeps no text, and the row id is
// the number of the session with the number of the record. Each word is there twice: as it is, and
// behind the number of the session between two ofSession.
type sqliteWords struct{}

// ofSession is a letter to FTS5, and stands in none of eventlog.Words.
const ofSession = "\u00b7"

// seqBits are those of the number of a record in a row id.
const seqBits = 36

func (sqliteWords) add(ctx context.Context, tx *sql.Tx, _ string, no int64, seq uint64, words string) error {
	if seq >= 1<<seqBits {
		return nil // more records than any session has
	}
	own := fmt.Sprintf(" %s%d%s", ofSession, no, ofSession)
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO words (rowid, text) VALUES ($1, $2)`, no<<seqBits|int64(seq), words+own+strings.ReplaceAll(words, " ", own))
	return err
}

func (sqliteWords) remove(ctx context.Context, tx *sql.Tx, query, session string, args ...any) error {
	_, err := tx.ExecContext(ctx, fmt.Sprintf(`DELETE FROM words WHERE rowid IN (SELECT (SELECT no FROM searched WHERE session = $1) << %d | seq FROM (%s) AS gone)`, seqBits, query), append([]any{session}, args...)...)
	return err
}

func (sqliteWords) find(words []string, n int, of string) (query string, args []any) {
	in := make([]string, len(words))
	for i, w := range words {
		if of != "" {
			in[i] = fmt.Sprintf(`EXISTS (SELECT 1 FROM words WHERE words MATCH '"%s' || no || $%d)`, ofSession, n+i)
			args = append(args, ofSession+w+`"*`)
			continue
		}
		in[i] = fmt.Sprintf("no IN (SELECT rowid >> %d FROM words WHERE words MATCH $%d)", seqBits, n+i)
		args = append(args, `"`+w+`"*`)
	}
	if of != "" {
		of = "session IN (" + of + ") AND "
	}
	return "SELECT session FROM searched WHERE " + of + strings.Join(in, " AND "), args
}

// postgresWords is an index of tsvector and GIN.
type postgresWords struct{}

func (postgresWords) add(ctx context.Context, tx *sql.Tx, session string, _ int64, seq uint64, words string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO texts (session, seq, words) VALUES ($1, $2, array_to_tsvector(string_to_array($3, ' '))) ON CONFLICT (session, seq) DO UPDATE SET words = excluded.words`, session, seq, words)
	return err
}

func (postgresWords) remove(ctx context.Context, tx *sql.Tx, query, session string, args ...any) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM texts WHERE session = $1 AND seq IN (`+query+`)`, append([]any{session}, args...)...) //nolint:gosec // the queries are constants
	return err
}

func (postgresWords) find(words []string, n int, of string) (query string, args []any) {
	from, with := "texts", ""
	if of != "" { // materialized, so that the index of all words is not used
		from, with = "own", "WITH own AS MATERIALIZED (SELECT session, words FROM texts WHERE session IN ("+of+")) "
	}
	in := make([]string, len(words))
	for i, w := range words {
		in[i] = fmt.Sprintf("SELECT session FROM %s WHERE words @@ CAST($%d AS tsquery)", from, n+i)
		args = append(args, `'`+w+`':*`)
	}
	return with + strings.Join(in, " INTERSECT "), args
}
