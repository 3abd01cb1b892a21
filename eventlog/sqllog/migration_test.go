package sqllog_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
)

// back are the statements that bring a database back to the first step of the schema.
const back = `
	DROP TABLE grants; DROP TABLE exports; DROP INDEX turns_by_end;
	DROP TABLE IF EXISTS texts; DROP TABLE IF EXISTS searched; DROP TABLE IF EXISTS words; ALTER TABLE store DROP COLUMN indexed;
	DROP INDEX sessions_by_creator; DROP INDEX sessions_by_phase; DROP INDEX sessions_by_agent; DROP INDEX sessions_archived;
	ALTER TABLE sessions DROP COLUMN archived;
	ALTER TABLE sessions RENAME COLUMN phase TO unfinished;
	CREATE INDEX sessions_by_creator ON sessions (created_by, updated_at, id);
	CREATE INDEX sessions_unfinished ON sessions (updated_at, id) WHERE unfinished <> 0;
	DELETE FROM goose_db_version WHERE version_id > 1`

func TestADatabaseOfAnEarlierVersionKeepsItsSessions(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		first := open(t, o)
		fillForFlips(t, first)
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		db := behind(t, o)
		if _, err := db.ExecContext(t.Context(), back); err != nil {
			t.Fatal(err)
		}
		f := lookAround(t, o)
		f.judge(t, "after the migration")
		if len(f.damage.Sessions) > 0 || f.damage.Files > 0 {
			t.Errorf("the migration counts as damage: %v", f.damage)
		}
		s, live, n := open(t, o), false, 0
		for e, err := range s.List(t.Context(), eventlog.Query{Archived: &live, Phases: []eventlog.Phase{eventlog.Closed}}) {
			if n++; err != nil || e.Damaged {
				t.Errorf("%+v, %v", e, err)
			}
		}
		if n != flipSessions {
			t.Errorf("%d sessions are listed", n)
		}
		sqllog.AwaitIndex(s)
		for i := range flipSessions {
			id, owner, _ := flipNames(i)
			if got := search(t, s, "secret answer "+owner); got != id {
				t.Errorf("%q finds %q", owner, got)
			}
		}
	})
}

// search are the sessions that a search finds.
func search(t *testing.T, s *sqllog.Store, words string) string {
	t.Helper()
	var ids []string
	for e, err := range s.List(t.Context(), eventlog.Query{Words: eventlog.Words(words)}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.Session)
	}
	return strings.Join(ids, " ")
}

// A salvage makes a new index from the records that it saves.
func TestASearchFindsTheSessionsOfADatabaseThatWasSalvaged(t *testing.T) {
	t.Parallel()
	o := damagedFiles(t, false)
	path := filepath.Join(o.Dir, "tributary.db")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(whole[:4096])
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, o)
	sqllog.AwaitIndex(s)
	if s.Damage().Files == 0 {
		t.Error("the database was not salvaged")
	}
	if got := search(t, s, "secret answer person 4"); got != "session-4" {
		t.Errorf("found %q", got)
	}
}

// A salvage keeps how far exporters are.
func TestExportersGoOnAfterASalvage(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir()}
	first := open(t, o)
	fillForFlips(t, first)
	id, _, _ := flipNames(1)
	for _, name := range []string{"old", "all"} {
		if err := first.AddExporter(t.Context(), name, name == "all"); err != nil {
			t.Fatal(err)
		}
	}
	next, ok, err := first.NextUnsent(t.Context(), "all", id, nil)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := errors.Join(first.Sent(t.Context(), "all", id, next.Last), first.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(o.Dir, "tributary.db")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(whole[:4096])
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, o)
	if s.Damage().Files == 0 {
		t.Error("the database was not salvaged")
	}
	if err := s.AddExporter(t.Context(), "all", false); err != nil { // it is known
		t.Fatal(err)
	}
	old, err := s.CountUnsent(t.Context(), "old", nil)
	if old != 0 || err != nil {
		t.Errorf("%d turns wait that counted as sent, %v", old, err)
	}
	again, ok, err := s.NextUnsent(t.Context(), "all", id, nil)
	if err != nil || ok && again.Position != next.Last {
		t.Errorf("the position is %d, %v; want %d", again.Position, err, next.Last)
	}
	if n, err := s.CountUnsent(t.Context(), "all", nil); n == 0 || err != nil {
		t.Errorf("%d turns wait, %v", n, err)
	}
}

// No page of the schema is needed to find the tables: a new database has the same.
func TestEveryPageOfTheSchemaCanBeLost(t *testing.T) {
	t.Parallel()
	o := damagedFiles(t, false)
	whole, err := os.ReadFile(filepath.Join(o.Dir, "tributary.db"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for at := 0; at+4096 <= len(whole); at += 4096 {
		if !bytes.Contains(whole[at:at+4096], []byte("CREATE TABLE")) && !bytes.Contains(whole[at:at+4096], []byte("CREATE INDEX")) && at > 0 {
			continue
		}
		n++
		hurt := bytes.Clone(whole)
		clear(hurt[at : at+4096])
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(o.Dir)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "tributary.db"), hurt, 0o600); err != nil {
			t.Fatal(err)
		}
		for id, whole := range lookAround(t, sqllog.Options{Dir: dir}).whole {
			if !whole {
				t.Errorf("without the page at %d %s is lost", at, id)
			}
		}
	}
	if n < 2 {
		t.Errorf("the schema has %d pages: this test looks for them in the wrong way", n)
	}
}
