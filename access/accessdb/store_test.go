package accessdb_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/access/accessdb"
	"github.com/tributary-dev/tributary/internal/testkit/pgtest"
)

var postgres pgtest.Server

func TestMain(m *testing.M) {
	code := m.Run()
	postgres.Stop()
	os.Exit(code)
}

func open(t *testing.T, dir, url string) *accessdb.Store {
	t.Helper()
	s, err := accessdb.Open(t.Context(), dir, url, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// The rules of access.Store, for each of them.
func TestStores(t *testing.T) {
	t.Parallel()
	dir, url := t.TempDir(), postgres.Database(t)
	for name, again := range map[string]func() access.Store{
		"memory":     sync.OnceValue(access.NewMemory),
		"SQLite":     func() access.Store { return open(t, dir, "") },
		"PostgreSQL": func() access.Store { return open(t, "", url) },
	} {
		t.Run(name, func(t *testing.T) {
			s := again()
			now := time.Now().Truncate(time.Millisecond)
			one := access.Entry{ID: "1", Name: "one", Created: now.Add(-time.Hour), Doc: []byte("\x00a\xff")}
			two := access.Entry{ID: "2", Name: "two", Owner: "ada", Created: now, Expires: now.Add(time.Hour), Doc: []byte("{}")}
			over := access.Entry{ID: "3", Name: "over", Created: now, Expires: now.Add(-time.Second), Doc: []byte("{}")}
			for _, e := range []access.Entry{two, one, over} {
				if err := s.Put(t.Context(), "x", e); err != nil {
					t.Fatal(err)
				}
			}
			for _, e := range []access.Entry{{ID: "1", Name: "new"}, {ID: "new", Name: "two"}} {
				if err := s.Put(t.Context(), "x", e); !errors.Is(err, access.ErrTaken) {
					t.Errorf("a second %v: %v", e, err)
				}
			}
			if err := s.Put(t.Context(), "y", access.Entry{ID: "1", Name: "one", Created: now, Doc: []byte("y")}); err != nil {
				t.Errorf("the same name of another kind: %v", err)
			}
			s = again() // another process
			got, err := s.Get(t.Context(), "x", "1")
			if d := cmp.Diff(one, got); err != nil || d != "" {
				t.Errorf("%v %s", err, d)
			}
			if all, err := s.List(t.Context(), "x", ""); err != nil || len(all) != 2 {
				t.Errorf("%v %v", all, err)
			}
			for owner, want := range map[string]int{"ada": 2, "bob": 1} { // the first has no owner, as those of older programs
				if all, err := s.List(t.Context(), "x", owner); err != nil || len(all) != want {
					t.Errorf("of %s: %v %v", owner, all, err)
				}
			}
			changed := two
			changed.Doc, changed.Expires = []byte("new"), now.Add(2*time.Hour)
			for _, c := range []struct {
				e    access.Entry
				was  string
				want error
			}{{changed, "other", access.ErrUnknown}, {changed, "{}", nil}, {changed, "{}", access.ErrUnknown}, {over, "{}", access.ErrUnknown}} {
				if err := s.Update(t.Context(), "x", c.e, []byte(c.was)); !errors.Is(err, c.want) {
					t.Errorf("to update %v that was %s: %v", c.e, c.was, err)
				}
			}
			if got, err := s.Get(t.Context(), "x", "2"); err != nil || cmp.Diff(changed, got) != "" {
				t.Errorf("%v %s", err, cmp.Diff(changed, got))
			}
			for _, id := range []string{"3", "", "one"} {
				if _, err := s.Get(t.Context(), "x", id); !errors.Is(err, access.ErrUnknown) {
					t.Errorf("%q: %v", id, err)
				}
			}
			if err := s.Put(t.Context(), "x", access.Entry{ID: "3", Name: "over", Created: now, Doc: []byte("{}")}); err != nil {
				t.Errorf("an entry in the place of one that has expired: %v", err)
			}
			if err := s.Delete(t.Context(), "x", "one"); err != nil {
				t.Error(err)
			}
			if err := s.Delete(t.Context(), "x", "one"); !errors.Is(err, access.ErrUnknown) {
				t.Errorf("a second time: %v", err)
			}
			if _, err := s.Get(t.Context(), "y", "1"); err != nil {
				t.Errorf("an entry of another kind: %v", err)
			}
		})
	}
}

func TestSeveralProcessesMakeTheTablesAtOnce(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"SQLite": "", "PostgreSQL": postgres.Database(t)} {
		dir := t.TempDir()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				s, err := accessdb.Open(context.WithoutCancel(t.Context()), dir, url, slog.New(slog.DiscardHandler))
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				_ = s.Close()
			})
		}
		all.Wait()
	}
}

func TestAStoreThatCannotBeOpenedIsASentenceWithoutASecret(t *testing.T) {
	t.Parallel()
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "access.db"), []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, url, want string }{
		{filepath.Join(t.TempDir(), "none"), "", "cannot be used: no such file or directory"},
		{broken, "", "access.db cannot be used"},
		{"", "postgres://u:hunter2@127.0.0.1:1/x", "the tokens and sign-ins in the database x on 127.0.0.1:1 cannot be used"},
		{"", "postgres://u:hunter2@:x:y/", "cannot be read: write postgres://"},
	} {
		_, err := accessdb.Open(t.Context(), c.dir, c.url, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.want, err)
		}
	}
}

// A store of an older program opens, and a gateway of that version goes on beside the new one: the
// statements here are those of the first version.
func TestAStoreOfAnOlderProgram(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"SQLite": "", "PostgreSQL": postgres.Database(t)} {
		dir, driver, source := t.TempDir(), "pgx", url
		if url == "" {
			driver, source = "sqlite", filepath.Join(dir, "access.db")
		}
		open(t, dir, url)
		old, err := sql.Open(driver, source)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = old.Close() })
		exec := func(statement string) {
			t.Helper()
			if _, err := old.ExecContext(t.Context(), statement); err != nil {
				t.Fatalf("%s: %s: %v", name, statement, err)
			}
		}
		put := func(id string) {
			t.Helper()
			exec(`INSERT INTO access_entries (kind, id, name, created, expires, doc) VALUES ('sign-in', '` + id + `', '` + id + `', 1, 0, 'e30=') ON CONFLICT DO NOTHING`)
		}
		exec(`DROP INDEX access_entries_owner`)
		exec(`ALTER TABLE access_entries DROP COLUMN owner`)
		exec(`DELETE FROM access_version WHERE version_id > 1`)
		put("before")
		s := open(t, dir, url)
		put("beside")
		if err := s.Put(t.Context(), "sign-in", access.Entry{ID: "new", Name: "new", Owner: "ada", Created: time.Now(), Doc: []byte("{}")}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for owner, want := range map[string]int{"ada": 3, "bob": 2} {
			if all, err := s.List(t.Context(), "sign-in", owner); err != nil || len(all) != want {
				t.Errorf("%s: of %s there are %v, %v", name, owner, all, err)
			}
		}
		exec(`DELETE FROM access_entries WHERE kind = 'sign-in' AND name = 'new'`)
		if _, err := s.Get(t.Context(), "sign-in", "new"); !errors.Is(err, access.ErrUnknown) {
			t.Errorf("%s: an entry that the older gateway has removed: %v", name, err)
		}
	}
}
