package sqllog

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// Bounds of the use of PostgreSQL.
const (
	oldestServer = 13
	connections  = 16 // that read
	writers      = 5  // connections that write, and one by which others know this gateway: they wait for no reader
	attempt      = 10 * time.Second
)

// openPostgres connects to a database that others may use too.
func openPostgres(ctx context.Context, o Options, owner string) (_ *db, err error) {
	config, err := pgx.ParseConfig(o.URL)
	if err != nil {
		return nil, errors.New("the URL of the database (--db) cannot be read: write postgres://user:password@host:5432/database, and %XX for characters that mean something in a URL")
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = attempt
	}
	where := fmt.Sprintf("%s on %s", config.Database, net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))))
	if strings.HasPrefix(config.Host, "/") {
		where = fmt.Sprintf("%s on %s", config.Database, config.Host)
	}
	d := &db{}
	connected := func(ctx context.Context, c *pgx.Conn) error {
		d.connections.Add(1)
		return yield(ctx, c)
	}
	pool := func(most int) *sql.DB {
		p := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(connected))
		p.SetMaxOpenConns(most)
		p.SetMaxIdleConns(most)
		p.SetConnMaxIdleTime(time.Minute)
		return p
	}
	p, w := pool(connections), pool(writers)
	*d = db{
		read: &reader{DB: p}, write: w, now: `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)`, share: ` FOR SHARE`, attempt: attempt,
		begin: func(ctx context.Context, sync bool) (*sql.Tx, error) { return beginPostgres(ctx, w, sync) },
		exec: func(ctx context.Context, tx *sql.Tx, query string, args ...any) (int64, error) {
			return affected(tx.ExecContext(ctx, query, args...))
		},
		terms: postgresTerms, insert: postgresInsert, keep: postgresKeep, words: postgresWords{},
		listen:   func(ctx context.Context, hear func(string) bool) error { return listenPostgres(ctx, p, hear) },
		lost:     postgresLost,
		full:     func(err error) bool { return postgresCode(err) == "53100" },
		sentence: func(err error) error { return postgresSentence(where, config.User, err) },
	}
	defer func() {
		if err != nil {
			err = d.sentence(err)
			_ = d.close()
		}
	}()
	var version int
	first, cancel := d.bounded(ctx, 0) // a server that says nothing is as good as none
	defer cancel()
	if err := p.QueryRowContext(first, `SELECT current_setting('server_version_num')::int`).Scan(&version); err != nil {
		return nil, err
	}
	if version /= 10000; version < oldestServer {
		return nil, fmt.Errorf("it is PostgreSQL %d, and Tributary needs %d or newer", version, oldestServer)
	}
	if err := d.migrate(ctx, true, owner, o.Logger); err != nil {
		return nil, err
	}
	return d, nil
}

// yield has the server end a transaction in which a gateway has fallen silent. Its locks
// would keep others from taking its sessions over when its lease is over.
func yield(ctx context.Context, c *pgx.Conn) error {
	_, err := c.PgConn().Exec(ctx, "SET idle_in_transaction_session_timeout = '10s'").ReadAll()
	return err
}

func beginPostgres(ctx context.Context, p *sql.DB, sync bool) (*sql.Tx, error) {
	tx, err := p.BeginTx(ctx, nil)
	if err != nil || sync {
		return tx, err
	}
	if _, err := tx.ExecContext(ctx, `SET LOCAL synchronous_commit = off`); err != nil {
		return nil, errors.Join(err, ignoreDone(tx.Rollback()))
	}
	return tx, nil
}

func postgresTerms(ctx context.Context, tx *sql.Tx, sessions []string) (map[string]ownership, error) {
	return owners(tx.QueryContext(ctx, `SELECT session, owner, term FROM places WHERE session = ANY($1) ORDER BY session FOR SHARE`, sessions))
}

func postgresInsert(ctx context.Context, tx *sql.Tx, rows []row) (int64, error) {
	n := len(rows)
	sessions, seqs, prevs, turns, kinds := make([]string, n), make([]int64, n), make([]int64, n), make([]string, n), make([]string, n)
	messages, persons, ats, bodies := make([]*string, n), make([]*string, n), make([]int64, n), make([][]byte, n)
	ns, ids, parents, actors := make([]int64, n), make([]*string, n), make([]string, n), make([]string, n)
	sums, markSums := make([]int64, n), make([]int64, n)
	for i, r := range rows {
		sessions[i], seqs[i], turns[i], kinds[i] = r.session, int64(r.seq), r.turn, r.kind //nolint:gosec // no session has 2^63 records
		messages[i], persons[i], ats[i], bodies[i] = r.message, r.person, r.at, r.body
		ns[i], ids[i], parents[i], actors[i] = r.ns, r.id, r.parent, r.actor
		prevs[i], sums[i], markSums[i] = int64(r.prev), r.bodySum(), r.sumOfMark() //nolint:gosec // as above
	}
	return affected(tx.ExecContext(ctx, `INSERT INTO records (`+recordColumns+`)
		SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::text[], $11::text[], $12::text[], $13::bytea[], $14::bigint[], $15::bigint[]) ON CONFLICT (session, seq) DO NOTHING`,
		sessions, seqs, prevs, turns, kinds, messages, persons, ats, ns, ids, parents, actors, bodies, sums, markSums))
}

func postgresKeep(ctx context.Context, tx *sql.Tx, rows []checkpoint) error {
	n := len(rows)
	sessions, turns, parts := make([]string, n), make([]string, n), make([]string, n)
	chunks, seqs, bodies, sums := make([]int64, n), make([]int64, n), make([][]byte, n), make([]int64, n)
	for i, c := range rows {
		sessions[i], turns[i], parts[i] = c.session, c.key.turn, c.key.name
		chunks[i], seqs[i], bodies[i], sums[i] = c.after, int64(c.seq), c.body, c.sum() //nolint:gosec // no session has 2^63 records
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO checkpoints (session, turn, part, chunk, seq, body, sum)
		SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bytea[], $7::bigint[])
		ON CONFLICT (session, turn, part, chunk) DO UPDATE SET seq = excluded.seq, body = excluded.body, sum = excluded.sum`, sessions, turns, parts, chunks, seqs, bodies, sums)
	return err
}

func postgresCode(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// postgresLost reports whether it makes sense to try again: the connection broke, the
// server goes down or comes up, or two gateways were in each other's way.
func postgresLost(err error) bool {
	switch code := postgresCode(err); {
	case strings.HasPrefix(code, "08"), strings.HasPrefix(code, "57P"), strings.HasPrefix(code, "40"), code == "53300", code == "25006", code == "25P03":
		return true
	case code != "":
		return false
	}
	var n net.Error
	var c *pgconn.ConnectError
	return errors.As(err, &c) || errors.As(err, &n) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed) || errors.Is(err, context.DeadlineExceeded) ||
		strings.Contains(err.Error(), "conn closed")
}

// postgresSentence says what to do about an error. The errors of the driver name
// host, user and database, and no password.
func postgresSentence(where, user string, err error) error {
	switch code := postgresCode(err); {
	case err == nil:
		return nil
	case code == "28P01", code == "28000":
		return fmt.Errorf("the database %s refuses the user %q: correct the user or the password in --db", where, user)
	case code == "3D000":
		return fmt.Errorf("the server of %s has no such database: make it with `createdb`, or correct --db", where)
	case code == "42501":
		return fmt.Errorf("the user %q may not make or write the tables in %s: grant it the rights, or make it the owner of the database: %w", user, where, err)
	case code == "53100":
		return fmt.Errorf("the disk of the server of %s is full: free some room, nothing needs a restart: %w", where, err)
	case postgresLost(err):
		return fmt.Errorf("the database %s cannot be reached: start its server, or correct --db: %w", where, networkError(err))
	}
	return fmt.Errorf("the database %s: %w", where, err)
}

// networkError is the reason of a lost connection, which the driver tells once for each
// address and each way to connect.
func networkError(err error) error {
	if unknown, is := errors.AsType[*net.DNSError](err); is {
		return errors.New(unknown.Err)
	}
	if failed, is := errors.AsType[*net.OpError](err); is {
		return failed.Err
	}
	return err
}
