package sqllog

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"log/slog"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tributary-dev/tributary/internal/migration"
)

// The steps of the schema. A released step is never changed.
//
//go:embed schema/*.sql
var schema embed.FS

// special is what the schema says to one of the databases only.
var special = regexp.MustCompile(`(?s)/\*(\w+): (.*?)\*/`) //nolint:gochecknoglobals // never written

// comment is a comment of the schema with the space before it.
var comment = regexp.MustCompile(`(?m)\s*--.*$`) //nolint:gochecknoglobals // never written

// schemaFor is a step of the schema in the words of a database, without its comments: SQLite keeps
// the text of the schema in the file.
func schemaFor(postgres bool, step string) string {
	database, kind := "sqlite", "text"
	if postgres {
		database, kind = "postgres", "bytea"
	}
	text := special.ReplaceAllStringFunc(step, func(found string) string {
		if parts := special.FindStringSubmatch(found); parts[1] == database {
			return parts[2]
		}
		return ""
	})
	return strings.ReplaceAll(comment.ReplaceAllString(text, ""), "bytes  NOT NULL", kind+" NOT NULL")
}

// db is a database, and what differs between SQLite and PostgreSQL.
type db struct {
	read  *reader
	write *sql.DB
	// exclusive: no other process uses the database, so that no owner that it names
	// is alive.
	exclusive bool
	// now is an expression for the database's clock, in milliseconds since 1970.
	now string
	// share has a row stay as it is until the transaction ends, at the end of a SELECT; empty if one transaction runs at a time.
	share string
	// attempt bounds one attempt at a read or a transaction that moves few bytes (0: not).
	attempt time.Duration

	// begin begins a transaction that is to be on the disk when it is committed, or
	// need not be.
	begin func(ctx context.Context, sync bool) (*sql.Tx, error)
	// exec executes a statement that comes often, and counts the rows that it has changed.
	exec func(ctx context.Context, tx *sql.Tx, query string, args ...any) (int64, error)
	// terms reads the owners of sessions, and keeps others from changing them until
	// the transaction ends.
	terms func(ctx context.Context, tx *sql.Tx, sessions []string) (map[string]ownership, error)
	// insert adds records that are not there yet, and counts them.
	insert func(ctx context.Context, tx *sql.Tx, rows []row) (int64, error)
	// keep puts checkpoints in the place of older ones.
	keep func(ctx context.Context, tx *sql.Tx, rows []checkpoint) error

	// connections counts those that were made: a server may have crashed before a new one.
	connections atomic.Int64

	// words is the index of words.
	words wordIndex

	// listen hears of changes by other processes; nil if there can be none.
	listen func(ctx context.Context, hear func(payload string) bool) error

	// present is this gateway, as the others on the database know it; nil if there can be none.
	present *presence

	// lost reports whether the error is about the way to the database.
	lost func(error) bool
	// full reports whether the disk is full.
	full func(error) bool
	// sentence makes an error a sentence that says what to do, without a secret.
	sentence func(error) error
}

func (d *db) close() (err error) {
	if d.present != nil {
		d.present.leave()
	}
	if d.read != nil {
		err = d.read.Close()
	}
	if d.write != nil {
		err = errors.Join(err, d.write.Close())
	}
	return err
}

// bounded bounds one attempt. A slow line gets a second for each megabyte.
func (d *db) bounded(ctx context.Context, bytes int) (context.Context, context.CancelFunc) {
	if d.attempt == 0 {
		return context.WithCancel(ctx)
	}
	const mega = 1 << 20
	return context.WithTimeout(ctx, d.attempt+time.Duration(bytes/mega)*time.Second)
}

// migrate brings the schema to this program's version. A newer one is an error, and so is an older
// one that gateways use which could not go on with this one.
func (d *db) migrate(ctx context.Context, postgres bool, owner string, logger *slog.Logger) error {
	s, alone, err := migrations(postgres)
	if err != nil {
		return err
	}
	s.Before = func(ctx context.Context, tx *sql.Tx, there int64) error {
		if !postgres || there == 0 || there >= alone {
			return nil
		}
		return d.alone(ctx, tx, nameOf(owner), there, alone)
	}
	if err := s.Up(ctx, d.write, logger); err != nil {
		return err
	}
	if !postgres {
		return nil
	}
	d.present = &presence{db: d, lock: lockOf(owner)}
	if _, err := d.present.connection(ctx); err != nil {
		return err
	}
	_, err = s.Check(ctx, d.write) // a newer program may have come in between
	return err
}

// migrations are the steps of the schema, and the newest that older gateways cannot bear.
func migrations(postgres bool) (s migration.Schema, alone int64, err error) {
	files, err := fs.Sub(schema, "schema")
	if err != nil {
		return s, 0, err
	}
	s = migration.Schema{Table: "goose_db_version", What: "the log", Postgres: postgres}
	s.Steps, err = migration.Steps(files)
	for i, step := range s.Steps {
		if strings.Contains(step, aloneMark) {
			alone = int64(i + 1)
		}
		s.Steps[i] = schemaFor(postgres, step)
	}
	return s, alone, err
}

// affected is how many rows a statement has changed.
func affected(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}
