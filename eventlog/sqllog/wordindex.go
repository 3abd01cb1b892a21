package sqllog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// This file has the index of words in SQLite, and that in PostgreSQL.

// sqliteWords is an index of FTS5. The table of words keeps no text, and the row id of a text is
// the number of its session with the number of its record. Each word is there twice: as it is, and
// behind the number of the session between two ofSession.
type sqliteWords struct{ w *sqliteWriter }

// ofSession is a letter to FTS5, and stands in none of eventlog.Words.
const ofSession = "\u00b7"

// seqBits are those of the number of a record in a row id.
const seqBits = 36

// The statements of SQLite's index.
const (
	searchSession = `INSERT INTO searched (session) VALUES ($1) ON CONFLICT (session) DO NOTHING`
	searchNumber  = `SELECT no FROM searched WHERE session = $1`
	addWords      = `INSERT OR REPLACE INTO words (rowid, text) VALUES ($1, $2)`
	removeWords   = `DELETE FROM words WHERE rowid = $1`
)

// number is the number of a session in the index, if it has one.
func (i sqliteWords) number(ctx context.Context, tx *sql.Tx, session string) (no int64, known bool, err error) {
	var n num
	err = tx.StmtContext(ctx, i.w.stmts[searchNumber]).QueryRowContext(ctx, session).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return int64(n) << seqBits, err == nil, err
}

func (i sqliteWords) add(ctx context.Context, tx *sql.Tx, texts []text) error {
	for _, t := range texts {
		no, known, err := i.number(ctx, tx, t.session)
		if err == nil && !known {
			if _, err = i.w.exec(ctx, tx, searchSession, t.session); err == nil {
				no, _, err = i.number(ctx, tx, t.session)
			}
		}
		if err != nil {
			return err
		}
		if t.seq >= 1<<seqBits {
			continue // more records than any session has
		}
		own := fmt.Sprintf(" %s%d%s", ofSession, no>>seqBits, ofSession)
		if _, err := i.w.exec(ctx, tx, addWords, no|int64(t.seq), t.words+own+strings.ReplaceAll(t.words, " ", own)); err != nil {
			return err
		}
	}
	return nil
}

func (i sqliteWords) remove(ctx context.Context, tx *sql.Tx, session string, seqs []int64) error {
	no, known, err := i.number(ctx, tx, session)
	if err != nil || !known {
		return err
	}
	for _, seq := range seqs {
		if _, err := i.w.exec(ctx, tx, removeWords, no|seq); err != nil {
			return err
		}
	}
	return nil
}

func (i sqliteWords) forget(ctx context.Context, tx *sql.Tx, session string) error {
	no, known, err := i.number(ctx, tx, session)
	if err != nil || !known {
		return err
	}
	_, err = i.w.exec(ctx, tx, `DELETE FROM words WHERE rowid BETWEEN $1 AND $2`, no, no|(1<<seqBits-1))
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

func (postgresWords) add(ctx context.Context, tx *sql.Tx, texts []text) error {
	n := len(texts)
	sessions, seqs, words := make([]string, n), make([]int64, n), make([]string, n)
	for i, t := range texts {
		sessions[i], seqs[i], words[i] = t.session, int64(t.seq), t.words //nolint:gosec // no session has 2^63 records
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO texts (session, seq, words) SELECT s, q, array_to_tsvector(string_to_array(w, ' '))
		FROM unnest($1::text[], $2::bigint[], $3::text[]) AS u (s, q, w) ON CONFLICT (session, seq) DO NOTHING`, sessions, seqs, words)
	return err
}

func (postgresWords) remove(ctx context.Context, tx *sql.Tx, session string, seqs []int64) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM texts WHERE session = $1 AND seq = ANY($2)`, session, seqs)
	return err
}

func (postgresWords) forget(ctx context.Context, tx *sql.Tx, session string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM texts WHERE session = $1`, session)
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
