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
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
	_ "modernc.org/sqlite" // the driver

	"github.com/tributary-dev/tributary/internal/migration"
)

//go:embed schema
var schema embed.FS

const (
	// file is the database in the data directory.
	file = "access.db"
	// version is the table with the version of the schema: the log has one of its own.
	version = "access_version"
	// openWithin bounds the first answer of a server.
	openWithin  = 10 * time.Second
	connections = 4
	// migrations bounds the attempts to make the tables of a file, and migrateAgain is the
	// time between two.
	migrations   = 5
	migrateAgain = 100 * time.Millisecond
)

// Open opens the database at a postgres:// URL, or without one the file in a directory.
// Open makes the directory's file and the tables if they are missing. The logger hears of older tables
// that Open has brought to this program's version.
func Open(ctx context.Context, dir, postgres string, logger *slog.Logger) (_ *Store, err error) {
	var s *Store
	dialect := goose.DialectSQLite3
	if postgres != "" {
		dialect = goose.DialectPostgres
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
	err = s.migrate(ctx, dialect, logger)
	for range migrations - 1 {
		if err == nil || dialect == goose.DialectPostgres {
			break
		}
		// Another process may have made the tables at the same time: SQLite has no lock for
		// that. The next attempt finds them.
		select {
		case <-time.After(migrateAgain):
		case <-ctx.Done():
		}
		err = s.migrate(ctx, dialect, logger)
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

// migrate brings the tables to this program's version.
func (s *Store) migrate(ctx context.Context, dialect goose.Dialect, logger *slog.Logger) error {
	table, err := database.NewStore(dialect, version)
	if err != nil {
		return err
	}
	options := []goose.ProviderOption{goose.WithVerbose(false), goose.WithDisableGlobalRegistry(true), goose.WithStore(table)}
	if dialect == goose.DialectPostgres { // two gateways may start at once
		options = append(options, goose.WithSessionLocker(migration.Lock{}))
	}
	p, err := goose.NewProvider("", s.db, steps(), options...)
	if err != nil {
		return err
	}
	return migration.Up(ctx, p, "tokens and sign-ins", logger)
}

// steps are the files of the schema.
func steps() fs.FS {
	files, err := fs.Sub(schema, "schema")
	if err != nil {
		panic(err) // the folder is compiled in
	}
	return files
}

// SchemaVersions returns the version of the tables in the database, 0 if there are none, and the version to
// which Open would bring them. SchemaVersions changes nothing.
func SchemaVersions(ctx context.Context, dir, postgres string) (there, own int64, err error) {
	files, err := fs.ReadDir(steps(), ".")
	if err != nil {
		return 0, 0, err
	}
	for _, f := range files {
		n, err := goose.NumericComponent(f.Name())
		if err != nil {
			return 0, 0, err
		}
		own = max(own, n)
	}
	there, err = migration.Version(ctx, filepath.Join(dir, file), postgres, version)
	return there, own, err
}
