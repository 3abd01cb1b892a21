package sqllog

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"
)

// This file reads a damaged database around its damage.

// copying copies rows from a damaged database to a new one.
type copying struct {
	to   *sql.DB
	log  *slog.Logger
	told time.Time
	rows int
}

// lenient has SQLite open a file that is cut short.
const lenient = "_pragma=writable_schema(1)"

// from copies what can be read. Of a database that does not know its tables it reads a copy
// with the schema of the new one, which has the same tables at the same places.
func (c *copying) from(ctx context.Context, path, saved, scratch string) error {
	source, err := sql.Open("sqlite", dsn(path, "mode=ro", lenient))
	if err != nil {
		return err
	}
	if !c.knowsItsTables(ctx, source) {
		_ = source.Close()
		if _, err := c.to.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil { // the tables are in the file then
			return err
		}
		if err := graft(path, saved, scratch); err != nil {
			return err
		}
		if source, err = sql.Open("sqlite", dsn(scratch, lenient)); err != nil {
			return err
		}
	}
	defer source.Close()
	sessions := map[string]struct{}{}
	for _, t := range tables() {
		if err := c.table(ctx, source, t, sessions); err != nil {
			return err
		}
	}
	return nil
}

// knowsItsTables reports whether a database says where its tables are. One table at another
// place than in a new database is damage; all of them are what VACUUM does.
func (c *copying) knowsItsTables(ctx context.Context, source *sql.DB) bool {
	is, err := tablesOf(ctx, source)
	wanted, failed := tablesOf(ctx, c.to)
	moved := 0
	for name, at := range wanted {
		if is[name].sql != at.sql {
			return false
		}
		if is[name].root != at.root {
			moved++
		}
	}
	return errors.Join(err, failed) == nil && moved != 1
}

type tableAt struct {
	root num
	sql  str
}

func tablesOf(ctx context.Context, d *sql.DB) (map[str]tableAt, error) {
	rows, err := d.QueryContext(ctx, `SELECT name, rootpage, COALESCE(sql, '') FROM sqlite_master`)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err says what matters
	all := map[str]tableAt{}
	for rows.Next() {
		var name str
		var at tableAt
		if err := rows.Scan(&name, &at.root, &at.sql); err != nil {
			return nil, err
		}
		all[name] = at
	}
	return all, rows.Err()
}

// graft copies a database and gives the copy the first page of another one, with the pages
// below it: all of them have the schema.
func graft(path, saved, scratch string) (err error) {
	for i, name := range besides(path)[:2] {
		if err := copyFile(name, besides(scratch)[i]); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	donor, err := os.ReadFile(saved)
	if err != nil || len(donor) < pageSize {
		return errors.Join(errors.New("the new database is not written"), err)
	}
	f, err := os.OpenFile(scratch, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	for _, n := range below(donor) { // the copy may be shorter than that
		if at := int64(n-1) * pageSize; err == nil && at > 0 && at+pageSize <= int64(len(donor)) {
			_, err = f.WriteAt(donor[at:at+pageSize], at)
			size = max(size, at+pageSize)
		}
	}
	const pages, freeList, changes, validFor = 28, 32, 24, 92 // in the head of the file
	page := donor[:pageSize]
	binary.BigEndian.PutUint32(page[pages:], uint32(max(size/pageSize, 1))) //nolint:gosec // SQLite's own bound
	clear(page[freeList : freeList+8])
	copy(page[validFor:], page[changes:changes+4])
	if err == nil {
		_, err = f.WriteAt(page, 0)
	}
	return err
}

// below are the numbers of the pages below the first one, which has the head of the file before
// its own. There are none while the schema fits into the first page.
func below(database []byte) (pages []uint32) {
	const head, interior, cells, rightmost, pointers = 100, 5, 3, 8, 12
	page := database[head:pageSize]
	if page[0] != interior {
		return nil
	}
	for i := range int(binary.BigEndian.Uint16(page[cells:])) {
		if at := int(binary.BigEndian.Uint16(page[pointers+2*i:])); at >= head && at+4 <= pageSize {
			pages = append(pages, binary.BigEndian.Uint32(database[at:]))
		}
	}
	return append(pages, binary.BigEndian.Uint32(page[rightmost:]))
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// tableOf is a table as it is copied. Rows are found by session where a part of the table
// cannot be read.
type tableOf struct{ name, columns, session, order string }

func tables() []tableOf {
	return []tableOf{
		{"places", "session, owner, term, lease_until, last, deleted_through, registered, sum", "session", "rowid"},
		{"sessions", entryColumns, "id", "rowid"},
		{"members", "session, person, role, sum", "session", "session %[1]s, person %[1]s"},
		{"turns", "session, turn, first, last, sum, end_sum", "session", "session %[1]s, turn %[1]s"},
		{"checkpoints", "session, turn, part, chunk, seq, body, sum", "session", "session %[1]s, turn %[1]s, part %[1]s, chunk %[1]s"},
		{"exports", "session, exporter, seq, owner, lease_until", "session", "session %[1]s, exporter %[1]s"},
		{"grants", "id, agent, doc", "id", "id %[1]s"},
		{"records", "session, seq, prev, turn, kind, message_id, person, at, body, sum, mark_sum", "session", "session %[1]s, seq %[1]s"},
	}
}

func (t tableOf) query(where, direction string) string {
	order := t.order + " " + direction
	if strings.Contains(t.order, "%") {
		order = fmt.Sprintf(t.order, direction)
	}
	return `SELECT ` + t.columns + ` FROM ` + t.name + where + ` ORDER BY ` + order
}

// table copies a table from both of its ends up to the damage. Then it copies the rows of
// each known session in the same way. It adds to the known sessions.
func (c *copying) table(ctx context.Context, source *sql.DB, t tableOf, sessions map[string]struct{}) error {
	if done, err := c.bothWays(ctx, source, t, sessions, ""); done || err != nil {
		return err
	}
	for _, index := range []string{
		"SELECT id FROM sessions ORDER BY id", "SELECT id FROM sessions ORDER BY updated_at", "SELECT session FROM places ORDER BY session",
		"SELECT session FROM members ORDER BY person", "SELECT session FROM turns ORDER BY session, first", "SELECT DISTINCT session FROM turns",
	} {
		for _, direction := range []string{"", " DESC"} {
			if failed := c.names(ctx, source, index+direction, sessions); failed == nil {
				break
			}
		}
	}
	for session := range sessions {
		if _, err := c.bothWays(ctx, source, t, sessions, ` WHERE `+t.session+` = $1`, session); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// names adds the sessions that a query names before it fails.
func (c *copying) names(ctx context.Context, source *sql.DB, query string, sessions map[string]struct{}) error {
	rows, err := source.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err says what matters
	for rows.Next() {
		var session str
		if err := rows.Scan(&session); err != nil {
			return err
		}
		sessions[string(session)] = struct{}{}
	}
	return rows.Err()
}

// bothWays copies rows from the first one on, and from the last one on if that fails. Its
// error is one of the new database, or of the context.
func (c *copying) bothWays(ctx context.Context, source *sql.DB, t tableOf, sessions map[string]struct{}, where string, args ...any) (done bool, err error) {
	for _, direction := range []string{"ASC", "DESC"} {
		rows, err := source.QueryContext(ctx, t.query(where, direction), args...)
		if err != nil {
			continue
		}
		err = c.copy(ctx, rows, t, sessions)
		failed := errors.Join(rows.Err(), rows.Close())
		if err = errors.Join(err, ctx.Err()); err != nil || failed == nil {
			return failed == nil, err
		}
	}
	return false, ctx.Err()
}

// copy inserts rows as they are, in transactions of bounded size. Rows that are there
// already, or that no table takes, are passed over.
func (c *copying) copy(ctx context.Context, rows *sql.Rows, t tableOf, sessions map[string]struct{}) error {
	columns, err := rows.Columns()
	if err != nil {
		return nil //nolint:nilerr // of the damaged database
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	insert := `INSERT OR IGNORE INTO ` + t.name + ` (` + t.columns + `) VALUES (?` + strings.Repeat(", ?", len(columns)-1) + `)` //nolint:gosec // names of our own tables
	for more := true; more; {
		tx, err := c.to.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		for range fullPage {
			if more = rows.Next() && rows.Scan(into...) == nil; !more {
				break
			}
			if session, is := values[0].(string); is {
				sessions[session] = struct{}{}
			}
			result, err := tx.ExecContext(ctx, insert, values...)
			if err != nil {
				return errors.Join(err, tx.Rollback())
			}
			if added, _ := result.RowsAffected(); added > 0 {
				c.rows++
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		c.tell(t.name)
	}
	return nil
}

// tell writes a line of progress now and then.
func (c *copying) tell(table string) {
	const often = 5 * time.Second
	if time.Since(c.told) > often {
		c.told = time.Now()
		c.log.Info("rows of the damaged database are being saved", "rows", c.rows, "table", table)
	}
}
