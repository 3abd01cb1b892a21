package sqllog_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/logtest"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/internal/testkit/inmemory"
	"github.com/tributary-dev/tributary/internal/testkit/pgtest"
)

var postgres pgtest.Server //nolint:gochecknoglobals // one for all tests

func TestMain(m *testing.M) {
	inmemory.Files()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		postgres.Stop()
		os.Exit(code)
	}))
}

// engines are the ways to open a log, each of which has the same promises.
func engines() map[string]func(t testing.TB) sqllog.Options {
	return map[string]func(t testing.TB) sqllog.Options{
		"sqlite":   func(t testing.TB) sqllog.Options { return sqllog.Options{Dir: t.TempDir()} },
		"postgres": func(t testing.TB) sqllog.Options { return sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t)} },
	}
}

// behind opens the database behind the back of the gateway.
func behind(t *testing.T, o sqllog.Options) *sql.DB {
	t.Helper()
	driver, source := "sqlite", filepath.Join(o.Dir, "tributary.db")+"?_pragma=busy_timeout(60000)" // the store may be writing
	if o.URL != "" {
		driver, source = "pgx", o.URL
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func open(t testing.TB, o sqllog.Options) *sqllog.Store {
	t.Helper()
	s, err := sqllog.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// New durable records are read from memory, and older ones from the database: the suite holds
// for both. Memory is the same for both engines, so one of them plays that.
func TestStore(t *testing.T) {
	t.Parallel()
	engines := engines()
	for name, c := range map[string]struct {
		options func(testing.TB) sqllog.Options
		forgets bool
	}{
		"sqlite, from memory": {engines["sqlite"], false},
		"sqlite":              {engines["sqlite"], true},
		"postgres":            {engines["postgres"], true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			logtest.Run(t, func(t *testing.T) eventlog.Store {
				o := c.options(t)
				o.Linger = time.Hour // the suite reads ephemeral records after their turns
				s := open(t, o)
				if c.forgets {
					return forgetful{s}
				}
				return s
			})
		})
	}
}

//evidence:for promise-one-writer
func TestTwoStoresOnOneDatabase(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		logtest.RunShared(t, func(t *testing.T, first, second time.Duration) (one, other eventlog.Store) {
			o := sqllog.Shared(sqllog.Options{Dir: t.TempDir(), Lease: first, Linger: time.Hour})
			one = open(t, o)
			if err := os.Remove(filepath.Join(o.Dir, "gateway")); err != nil { // the second is another gateway
				t.Fatal(err)
			}
			o.Lease = second
			return one, open(t, o)
		})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		logtest.RunShared(t, func(t *testing.T, first, second time.Duration) (one, other eventlog.Store) {
			o := sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t), Lease: first}
			one = open(t, o)
			o.Dir, o.Lease = t.TempDir(), second
			return one, open(t, o)
		})
	})
}
