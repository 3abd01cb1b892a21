package accessdb_test

import (
	"context"
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
			two := access.Entry{ID: "2", Name: "two", Created: now, Expires: now.Add(time.Hour), Doc: []byte("{}")}
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
			if all, err := s.List(t.Context(), "x"); err != nil || len(all) != 2 {
				t.Errorf("%v %v", all, err)
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
