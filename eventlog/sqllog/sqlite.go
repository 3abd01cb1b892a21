package sqllog

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tributary-dev/tributary/internal/migration"
)

// databaseFile is the database in the data directory.
const databaseFile = "tributary.db"

// readers is how many connections read at a time.
const readers = 8

// openSQLite opens the database in the data directory, or makes it.
func openSQLite(ctx context.Context, o Options) (_ *db, err error) {
	path, err := filepath.Abs(filepath.Join(o.Dir, databaseFile))
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the database %s cannot be written: correct its permissions, or choose another --data directory: %w", path, reason(err))
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	if err := check(ctx, path, o); err != nil {
		return nil, err
	}
	d, err := openFile(ctx, path, o)
	if isDamaged(err) {
		return nil, damagedSentence(path, err)
	}
	return d, sqliteSentence(path, err)
}

// openFile opens a database file, or makes its tables. Its errors are those of SQLite.
func openFile(ctx context.Context, path string, o Options) (_ *db, err error) {
	d := &db{exclusive: !o.shared, now: `CAST(unixepoch('subsec') * 1000 AS INTEGER)`}
	sync := "FULL"
	if o.NoSync {
		sync = "NORMAL"
	}
	d.sentence = func(err error) error { return sqliteSentence(path, err) }
	d.lost = func(err error) bool { return sqliteCode(err) == sqlite3.SQLITE_BUSY }
	d.full = func(err error) bool { return sqliteCode(err) == sqlite3.SQLITE_FULL }
	defer func() {
		if err != nil {
			_ = d.close()
		}
	}()
	if d.write, err = sql.Open("sqlite", dsn(path, "_txlock=immediate", "_pragma=journal_mode(WAL)", "_pragma=synchronous("+sync+")")); err != nil {
		return nil, err
	}
	d.write.SetMaxOpenConns(1)
	read, err := sql.Open("sqlite", dsn(path, "_pragma=query_only(1)"))
	if err != nil {
		return nil, err
	}
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	d.read = compiling(read)
	if err := d.migrate(ctx, false, "", o.Logger); err != nil {
		return nil, err
	}
	if err := openReaders(ctx, read); err != nil {
		return nil, err
	}
	w := &sqliteWriter{db: d.write, durable: sync, mode: sync}
	d.begin, d.exec, d.terms, d.insert, d.keep = w.begin, w.exec, w.terms, w.insert, w.keep
	d.words = sqliteWords{}
	if err := w.prepare(ctx, d.take()); err != nil {
		return nil, err
	}
	return d, nil
}

// openReaders opens all connections that read. They stay open: SQLite keeps the file of a
// connection that is closed while another one has the database open, so closing frees nothing.
func openReaders(ctx context.Context, read *sql.DB) error {
	for range readers {
		c, err := read.Conn(ctx)
		if err != nil {
			return err
		}
		defer c.Close() // goes back to the pool, once all are open
		var tables int
		if err := c.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master`).Scan(&tables); err != nil {
			return err
		}
	}
	return nil
}

func dsn(path string, settings ...string) string {
	u := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")} // Windows' begin with a letter
	always := []string{"_pragma=busy_timeout(2000)", "_pragma=cell_size_check(1)", "_pragma=journal_size_limit(67108864)"}
	return u.String() + "?" + strings.Join(append(always, settings...), "&")
}

// check asks SQLite whether the file is whole. A damaged one is not used as it is: it
// might hide sessions. The connection only reads, so that a refused file stays as it is.
func check(ctx context.Context, path string, o Options) error {
	d, err := sql.Open("sqlite", dsn(path, "mode=ro"))
	if err != nil {
		return err
	}
	defer d.Close()
	ctx, cancel := context.WithTimeout(ctx, o.check)
	defer cancel()
	var found string
	err = d.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		o.Logger.Warn("the database is too large to be checked at the start: check it with `PRAGMA quick_check` in sqlite3 now and then", "database", path, "limit", o.check)
		return nil
	case isDamaged(err):
		return damagedSentence(path, err)
	case err == nil && found != "ok":
		return damagedSentence(path, errors.New(found))
	}
	return nil // opening the file tells about other errors
}

func sqliteCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff // without the extended code
	}
	return 0
}

// sqliteSentence says what to do about an error of SQLite.
func sqliteSentence(path string, err error) error {
	if err == nil {
		return nil
	}
	switch sqliteCode(err) {
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("the disk that holds %s is full: free some room, nothing needs a restart: %w", path, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fmt.Errorf("the database %s cannot be written: correct the permissions of the file and its directory: %w", path, err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return damagedSentence(path, err)
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("another program has locked the database %s: end that program: %w", path, err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("the disk that holds %s reports an error: look at the system's log: %w", path, err)
	}
	return fmt.Errorf("the database %s: %w", path, err)
}

// damagedSentence names a damaged file and the two ways out.
func damagedSentence(path string, err error) error {
	return fmt.Errorf("the database %s is damaged: restore a back-up, or save what can be read with `tributary recover %s NEW`: %w", path, path, err)
}

// isDamaged reports whether an error at the start says that the file is damaged. A
// statement that SQLite does not understand means that the tables are not as they were made.
func isDamaged(err error) bool {
	code := sqliteCode(err)
	return errors.Is(err, migration.ErrUnknown) || code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB || code == sqlite3.SQLITE_ERROR
}

// reason is the part of an error about a file that does not name the file.
func reason(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	return err
}

// sqliteWriter has the only connection that writes.
type sqliteWriter struct {
	db            *sql.DB
	stmts         map[string]*sql.Stmt
	beginning     sync.Mutex
	durable, mode string // how commits are synced, and how the connection is set now
}

// The statements of each append.
const (
	sqliteInsert = `INSERT INTO records (` + recordColumns + `)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT (session, seq) DO NOTHING`
	sqliteTerms = `SELECT session, owner, term FROM places WHERE session IN (SELECT value FROM json_each($1))`
	sqliteKeep  = `INSERT INTO checkpoints (session, turn, part, chunk, seq, body, sum) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (session, turn, part, chunk) DO UPDATE SET seq = excluded.seq, body = excluded.body, sum = excluded.sum`
)

func (w *sqliteWriter) prepare(ctx context.Context, take string) (err error) {
	w.stmts = map[string]*sql.Stmt{}
	for _, query := range []string{sqliteInsert, sqliteTerms, sqliteKeep, beginTurn, endTurn, endPart, movePlace, putSession, removeMembers, addMember, freePlace, take} {
		if w.stmts[query], err = w.db.PrepareContext(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

// begin sets how this commit is to be synced: only durable records wait for the disk.
func (w *sqliteWriter) begin(ctx context.Context, sync bool) (*sql.Tx, error) {
	w.beginning.Lock() // nobody else sets the connection before the transaction has it
	defer w.beginning.Unlock()
	mode := "NORMAL"
	if sync {
		mode = w.durable
	}
	if mode != w.mode {
		if _, err := w.db.ExecContext(ctx, "PRAGMA synchronous = "+mode); err != nil {
			return nil, err
		}
		w.mode = mode
	}
	return w.db.BeginTx(ctx, nil)
}

func (w *sqliteWriter) exec(ctx context.Context, tx *sql.Tx, query string, args ...any) (int64, error) {
	if stmt := w.stmts[query]; stmt != nil {
		return affected(tx.StmtContext(ctx, stmt).ExecContext(ctx, args...))
	}
	return affected(tx.ExecContext(ctx, query, args...))
}

func (w *sqliteWriter) terms(ctx context.Context, tx *sql.Tx, sessions []string) (map[string]ownership, error) {
	list, err := json.Marshal(sessions)
	if err != nil {
		return nil, err
	}
	return owners(tx.StmtContext(ctx, w.stmts[sqliteTerms]).QueryContext(ctx, string(list)))
}

func (w *sqliteWriter) insert(ctx context.Context, tx *sql.Tx, rows []row) (n int64, err error) {
	stmt := tx.StmtContext(ctx, w.stmts[sqliteInsert])
	for _, r := range rows {
		added, err := affected(stmt.ExecContext(ctx, r.session, r.seq, r.prev, r.turn, r.kind, r.message, r.person, r.at, r.ns, r.id, r.parent, r.actor, string(r.body), r.bodySum(), r.sumOfMark()))
		if err != nil {
			return 0, err
		}
		n += added
	}
	return n, nil
}

func (w *sqliteWriter) keep(ctx context.Context, tx *sql.Tx, rows []checkpoint) error {
	stmt := tx.StmtContext(ctx, w.stmts[sqliteKeep])
	for _, c := range rows {
		if _, err := stmt.ExecContext(ctx, c.session, c.key.turn, c.key.name, c.after, c.seq, string(c.body), c.sum()); err != nil {
			return err
		}
	}
	return nil
}
