package accessdb

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/internal/migration"
)

//go:embed schema
var schema embed.FS

const (
	// file is the database in the data directory.
	file = "access.db"
	// openWithin bounds the first answer of a server.
	openWithin  = 10 * time.Second
	busyPause   = 10 * time.Millisecond
	connections = 4
)

// Open opens the database at a postgres:// URL, or without one the file in a directory.
// Open makes the directory's file and the tables if they are missing. The logger hears of older tables
// that Open has brought to this program's version.
func Open(ctx context.Context, dir, postgres string, logger *slog.Logger) (_ *Store, err error) {
	var s *Store
	if postgres != "" {
		s, err = openPostgres(postgres)
	} else {
		s, err = openFile(filepath.Join(dir, file))
	}
	if err != nil {
		return nil, err
	}
	s.db.SetMaxOpenConns(connections)
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	made, err := tables(postgres != "")
	for err == nil {
		err = made.Up(ctx, s.db, logger)
		if f, is := errors.AsType[*sqlite.Error](err); !is || f.Code()&0xff != sqlite3.SQLITE_BUSY || ctx.Err() != nil {
			break
		}
		err = nil // another process begins to use the file: SQLite waits for all but the change to a write-ahead log
		time.Sleep(busyPause)
	}
	if err != nil {
		_ = s.db.Close() // the other error says more
		return nil, s.fault(err)
	}
	return s, nil
}

func openFile(path string) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the current directory: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the tokens and sign-ins in %s cannot be used: %w", path, errors.Unwrap(err))
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("close %s: %w", path, err)
	}
	at := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")}
	db, err := sql.Open("sqlite", at.String()+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &Store{db, path}, nil
}

func openPostgres(at string) (*Store, error) {
	config, err := pgx.ParseConfig(at)
	if err != nil { // the error may repeat the password
		return nil, errors.New("the URL of the database (--db) cannot be read: write postgres://user:password@host:5432/database, and %XX for characters that mean something in a URL")
	}
	where := fmt.Sprintf("the database %s on %s", config.Database, net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))))
	return &Store{stdlib.OpenDB(*config), where}, nil
}

// tables are the steps of the schema. The log has a table of versions of its own.
func tables(postgres bool) (s migration.Schema, err error) {
	files, err := fs.Sub(schema, "schema")
	if err != nil {
		return s, err
	}
	s = migration.Schema{Table: "access_version", What: "tokens and sign-ins", Postgres: postgres}
	s.Steps, err = migration.Steps(files)
	return s, err
}

// Any reports whether the database has an entry of a kind that counts. Any changes nothing, and reads the
// tables of older programs too.
func Any(ctx context.Context, dir, postgres string, kind access.Kind) (bool, error) {
	n, err := migration.Number(ctx, filepath.Join(dir, file), postgres, `SELECT count(*) FROM access_entries WHERE kind = $1 AND (expires = 0 OR expires > $2)`,
		string(kind), time.Now().UnixMilli())
	return n > 0, err
}

// SchemaVersions returns the version of the tables in the database, 0 if there are none, and the version to
// which Open would bring them. SchemaVersions changes nothing.
func SchemaVersions(ctx context.Context, dir, postgres string) (there, own int64, err error) {
	s, err := tables(postgres != "")
	if err != nil {
		return 0, 0, err
	}
	there, err = migration.Version(ctx, filepath.Join(dir, file), postgres, s.Table)
	return there, int64(len(s.Steps)), err
}
