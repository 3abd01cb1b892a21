package migration

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
)

// This file tells the version of a schema, and what a start makes of it.

// versionWithin bounds the question for the version of a schema.
const versionWithin = 5 * time.Second

// Version reads the version of a schema from the table of its steps, in a PostgreSQL database or, if that
// is "", in a file of SQLite. It is 0 if there is no such table. Version changes nothing. The caller's
// package has the drivers.
func Version(ctx context.Context, file, postgres, table string) (version int64, err error) {
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
	err = db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM `+table).Scan(&version)
	if closed := db.Close(); err == nil || strings.Contains(err.Error(), "no such table") || strings.Contains(err.Error(), "42P01") { // no tables yet
		return version, closed
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

// Newer is the error about a schema that is newer than this program.
func Newer(there, own int64) error {
	return fmt.Errorf("its schema has version %d and this program knows versions up to %d: start the newer tributary that wrote it", there, own)
}

// Upgraded logs that steps were done to a schema that was there.
func Upgraded(logger *slog.Logger, what string, there int64, done []*goose.MigrationResult) {
	if there > 0 && len(done) > 0 {
		logger.Warn("the schema of the database was brought to the version of this program: older programs cannot use the database any more", "of", what, "from", there, "to", done[len(done)-1].Source.Version)
	}
}

// Up does the steps that a schema lacks, and logs them. A schema that is newer is an error.
func Up(ctx context.Context, p *goose.Provider, what string, logger *slog.Logger) error {
	there, err := p.GetDBVersion(ctx)
	if err != nil {
		return err
	}
	if sources := p.ListSources(); there > sources[len(sources)-1].Version {
		return Newer(there, sources[len(sources)-1].Version)
	}
	done, err := p.Up(ctx)
	if err == nil {
		Upgraded(logger, what, there, done)
	}
	return err
}
