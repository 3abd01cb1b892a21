package sqllog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// versionWithin bounds the question for the version of a schema.
const versionWithin = 5 * time.Second

// SchemaVersions returns the version of the schema in the database, 0 if there is none, and the
// version to which Open would bring it. SchemaVersions changes nothing. The error is a sentence.
func SchemaVersions(ctx context.Context, o Options) (there, own int64, err error) {
	steps, _, err := migrations(goose.DialectSQLite3) // the numbers are the same in PostgreSQL
	if err != nil {
		return 0, 0, err
	}
	for _, step := range steps {
		own = max(own, step.Version)
	}
	ctx, cancel := context.WithTimeout(ctx, versionWithin)
	defer cancel()
	if o.URL == "" {
		there, err = versionOfFile(ctx, filepath.Join(o.Dir, databaseFile))
		return there, own, err
	}
	config, err := pgx.ParseConfig(o.URL)
	if err != nil {
		return 0, own, errors.New("the URL of the database (--db) cannot be read: write postgres://user:password@host:5432/database, and %XX for characters that mean something in a URL")
	}
	there, err = readVersion(ctx, stdlib.OpenDB(*config))
	if postgresCode(err) == "42P01" { // there are no tables yet
		return 0, own, nil
	}
	return there, own, postgresSentence(fmt.Sprintf("%s on %s", config.Database, config.Host), config.User, err)
}

// versionOfFile reads a database without a journal as a file that nobody changes: SQLite would make
// files beside it, which the user of the gateway might not be able to write.
func versionOfFile(ctx context.Context, path string) (int64, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return 0, fmt.Errorf("find the current directory: %w", err)
	}
	switch file, err := os.Stat(path); {
	case os.IsNotExist(err) || err == nil && file.Size() == 0:
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("the database %s cannot be read: correct its permissions: %w", path, reason(err))
	}
	mode := "immutable=1"
	if journal, err := os.Stat(path + "-wal"); err == nil && journal.Size() > 0 {
		mode = "mode=ro"
	}
	db, err := sql.Open("sqlite", dsn(path, mode))
	if err != nil {
		return 0, sqliteSentence(path, err)
	}
	version, err := readVersion(ctx, db)
	if err != nil && strings.Contains(err.Error(), "no such table") {
		return 0, nil
	}
	return version, sqliteSentence(path, err)
}

// readVersion reads the version, and closes the database.
func readVersion(ctx context.Context, db *sql.DB) (version int64, err error) {
	err = db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version`).Scan(&version)
	return version, errors.Join(err, db.Close())
}

// SameDatabase reports whether two URLs name one database of one server. The user and the settings
// of the connection may differ.
func SameDatabase(a, b string) bool {
	first, wrong := pgx.ParseConfig(a)
	second, err := pgx.ParseConfig(b)
	return wrong == nil && err == nil && first.Host == second.Host && first.Port == second.Port && first.Database == second.Database
}
