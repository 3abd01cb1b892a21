package sqllog_test

import (
	"context"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
)

func TestAGatewayHearsWhatAnotherOneChanges(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t)}
	first := open(t, o)
	o.Dir = t.TempDir()
	second := open(t, o)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	put := func(s *sqllog.Store, id, person string) {
		t.Helper()
		e := eventlog.Entry{Session: id, Updated: time.Now(), Doc: []byte("{}"), Members: map[string]string{person: "viewer"}}
		if err := s.Put(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	step := 0
	for id, err := range first.Elsewhere(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"", "theirs", "theirs", "theirs"}[step]; id != want {
			t.Fatalf("step %d is about %q, want %q", step, id, want)
		}
		switch step {
		case 0, 1: // what this gateway writes is not heard
			put(first, "ours", "ada")
			put(second, "theirs", []string{"ada", "bob"}[step])
		case 2:
			if err := second.Delete(ctx, "theirs"); err != nil {
				t.Fatal(err)
			}
		}
		if step++; step == 4 {
			break
		}
	}
	if _, err := first.Get(ctx, "theirs"); err == nil || step != 4 {
		t.Errorf("after the last of %d steps the session is there", step)
	}
}

// A store in one process's own file has nobody else who writes.
func TestSQLiteHearsNothing(t *testing.T) {
	t.Parallel()
	if open(t, sqllog.Options{Dir: t.TempDir()}).Elsewhere(t.Context()) != nil {
		t.Error("it would listen")
	}
}

func TestListeningEndsWithTheStore(t *testing.T) {
	t.Parallel()
	s := open(t, sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t)})
	var last error
	for id, err := range s.Elsewhere(t.Context()) {
		if last = err; err == nil && id == "" {
			go func() { _ = s.Close() }()
		}
	}
	if last != eventlog.ErrClosed { //nolint:errorlint // it is not wrapped
		t.Errorf("the last is %v", last)
	}
}
