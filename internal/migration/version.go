// Package migration brings the tables of a database to the version of this program: those of the log, and those of
// tokens and sign-ins.
package migration

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// This file tells the version of a schema without a change.

// versionWithin bounds such a question.
const versionWithin = 5 * time.Second

// Version reads the version of a schema from the table of its steps. It is 0 if there is no such table.
func Version(ctx context.Context, file, postgres, table string) (version int64, err error) {
	return Number(ctx, file, postgres, `SELECT coalesce(max(version_id), 0) FROM `+table)
}

// Number asks for one number, in a PostgreSQL database or, if that is "", in a file of SQLite. It is 0 if
// the database has no such table. Number changes nothing. The caller's package has the drivers.
func Number(ctx context.Context, file, postgres, query string, values ...any) (n int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, versionWithin)
	defer cancel()
	driver, source := "pgx", postgres
	if postgres == "" {
		driver = "sqlite"
		if source, err = readOnly(file); err != nil || source == "" {
			return 0, err
		}
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return 0, err
	}
	err = db.QueryRowContext(ctx, query, values...).Scan(&n)
	if closed := db.Close(); err == nil || strings.Contains(err.Error(), "no such table") || strings.Contains(err.Error(), "42P01") { // no tables yet
		return n, closed
	}
	return 0, err
}

// readOnly is how to open a file without a change, or "" if there is none. A database without a journal is
// read as a file that nobody changes: SQLite would make files beside it, which the user of the gateway might
// not be able to write.
func readOnly(path string) (source string, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return "", fmt.Errorf("find the current directory: %w", err)
	}
	switch file, err := os.Stat(path); {
	case os.IsNotExist(err) || err == nil && file.Size() == 0:
		return "", nil
	case err != nil:
		if at, is := errors.AsType[*os.PathError](err); is {
			err = at.Err
		}
		return "", fmt.Errorf("it cannot be read: correct its permissions: %w", err)
	}
	mode := "immutable=1"
	if journal, err := os.Stat(path + "-wal"); err == nil && journal.Size() > 0 {
		mode = "mode=ro"
	}
	at := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")}
	return at.String() + "?_pragma=busy_timeout(2000)&" + mode, nil
}
