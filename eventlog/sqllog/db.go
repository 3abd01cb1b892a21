package sqllog

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

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
func schemaFor(dialect goose.Dialect, step string) string {
	kind := "text"
	if dialect == goose.DialectPostgres {
		kind = "bytea"
	}
	text := special.ReplaceAllStringFunc(step, func(found string) string {
		if parts := special.FindStringSubmatch(found); strings.HasPrefix(string(dialect), parts[1]) {
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
	// attempt bounds one attempt at a read or a transaction that moves few bytes (0: not).
	attempt time.Duration

	// begin begins a transaction that is to be on the disk when it is committed, or
	// need not be.
	begin func(ctx context.Context, sync bool) (*sql.Tx, error)
	// exec executes a statement that comes often.
	exec func(ctx context.Context, tx *sql.Tx, query string, args ...any) (sql.Result, error)
	// terms reads the owners of sessions, and keeps others from changing them until
	// the transaction ends.
	terms func(ctx context.Context, tx *sql.Tx, sessions []*session) (map[string]ownership, error)
	// insert adds records that are not there yet, and counts them.
	insert func(ctx context.Context, tx *sql.Tx, rows []row) (int64, error)
	// keep puts checkpoints in the place of older ones.
	keep func(ctx context.Context, tx *sql.Tx, rows []sessionCheckpoint) error

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
func (d *db) migrate(ctx context.Context, dialect goose.Dialect, gateway string, logger *slog.Logger) error {
	steps, alone, err := migrations(dialect)
	if err != nil {
		return err
	}
	options := []goose.ProviderOption{goose.WithVerbose(false), goose.WithDisableGlobalRegistry(true), goose.WithGoMigrations(steps...)}
	if dialect == goose.DialectPostgres { // two gateways may start at once
		options = append(options, goose.WithSessionLocker(&aloneLock{db: d, gateway: gateway, needs: alone}))
	}
	p, err := goose.NewProvider(dialect, d.write, nil, options...)
	if err != nil {
		return err
	}
	there, err := d.notNewer(ctx, p)
	if err != nil {
		return err
	}
	done, err := p.Up(ctx)
	if err == nil {
		migration.Upgraded(logger, "the log", there, done)
	}
	if beside, is := errors.AsType[*besideError](err); is {
		return beside
	}
	if err != nil || dialect != goose.DialectPostgres {
		return err
	}
	d.present = &presence{db: d}
	if err := d.present.join(ctx); err != nil {
		return err
	}
	_, err = d.notNewer(ctx, p) // a newer program may have come in between
	return err
}

// notNewer returns the version of the schema. One that is newer than this program is an error.
func (d *db) notNewer(ctx context.Context, p *goose.Provider) (there int64, err error) {
	if there, err = p.GetDBVersion(ctx); err != nil {
		return 0, err
	}
	sources := p.ListSources()
	if newest := sources[len(sources)-1].Version; there > newest {
		var known int
		if err := d.write.QueryRowContext(ctx, `SELECT count(*) FROM goose_db_version WHERE version_id BETWEEN 0 AND $1`, newest).Scan(&known); err != nil || known < int(newest)+1 {
			return 0, errors.Join(err, &damageError{"its version is not one that a program has written"})
		}
		return 0, migration.Newer(there, newest)
	}
	return there, nil
}

// migrations are the steps of the schema, by their file names, and the newest that older gateways
// cannot bear.
func migrations(dialect goose.Dialect) (steps []*goose.Migration, alone int64, err error) {
	files, err := schema.ReadDir("schema")
	for _, f := range files {
		var step []byte
		if step, err = schema.ReadFile("schema/" + f.Name()); err != nil {
			break
		}
		var version int64
		if version, err = strconv.ParseInt(strings.TrimSuffix(f.Name(), ".sql"), 10, 64); err != nil {
			break
		}
		if isAlone(string(step)) {
			alone = max(alone, version)
		}
		steps = append(steps, goose.NewGoMigration(version, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, schemaFor(dialect, string(step)))
			return err
		}}, nil))
	}
	return steps, alone, err
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}
