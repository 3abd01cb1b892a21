package sqllog_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/trace"
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
		if len(f.damage.Sessions) > 0 {
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
		awaitIndex(t, s)
		for i := range flipSessions {
			id, owner, _ := flipNames(i)
			if got := search(t, s, "secret answer "+owner); got != id {
				t.Errorf("%q finds %q", owner, got)
			}
		}
	})
}

// TestASearchOfAPersonLooksAtTheirSessionsOnly: the time of a search must not tell a person
// which words stand in the sessions of others. So its statement matches no word but in the sessions
// of the person.
func TestASearchOfAPersonLooksAtTheirSessionsOnly(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		s := open(t, o)
		at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
		for i := range 12 { // so that a number of a session begins another one
			e := eventlog.Entry{Session: fmt.Sprint("s", i), CreatedBy: []string{"ann", "bob"}[i%2], Title: fmt.Sprint("word", i), Updated: at.Add(time.Duration(i) * time.Second), Doc: []byte("{}")}
			if i == 1 {
				e.Members = map[string]string{"ann": "viewer"}
			}
			if err := s.Put(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		awaitIndex(t, s)
		for _, c := range []struct{ person, words, want string }{
			{"ann", "word", "s10 s8 s6 s4 s2 s1 s0"}, {"ann", "word1", "s10 s1"}, {"ann", "word3", ""}, {"bob", "wor word1", "s11 s1"}, {"bob", "1", ""}, {"eve", "word", ""},
		} {
			q := eventlog.Query{Person: c.person, Words: eventlog.Words(c.words)}
			var ids []string
			for e, err := range s.List(t.Context(), q) {
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, e.Session)
			}
			if got := strings.Join(ids, " "); got != c.want {
				t.Errorf("%s finds %q by %q, want %q", c.person, got, c.words, c.want)
			}
			query, args := sqllog.ListQuery(s, q)
			matches := regexp.MustCompile(`FROM (\w+) WHERE words (MATCH|@@) (.{10})`).FindAllStringSubmatch(query, -1)
			if len(matches) == 0 {
				t.Fatalf("%s matches no words", query)
			}
			for _, m := range matches {
				of := m[1] == "own" && strings.Contains(query, "own AS MATERIALIZED") || strings.HasPrefix(m[3], "'\"\u00b7' || n") && strings.HasPrefix(fmt.Sprint(args[len(args)-1]), "\u00b7")
				if !of || !strings.Contains(query, "session IN (SELECT id FROM sessions WHERE created_by = $4") {
					t.Errorf("%s reads the words of others: %q", query, args)
				}
			}
		}
	})
}

func awaitIndex(t testing.TB, s *sqllog.Store) {
	t.Helper()
	if err := s.AwaitIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
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

// No commit of a prompt holds its words. The index has them some time later, and after the next start of a gateway if
// the process is killed before. The first store here is one whose index waits.
func TestTheIndexIsBehindTheRecordsAndCatchesUp(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		o = sqllog.Shared(o)
		put := func(s *sqllog.Store, id string) {
			t.Helper()
			e := eventlog.Entry{Session: id, Title: "title", Updated: time.Now(), Doc: []byte("{}")}
			prompt := trace.Prompt{Message: trace.UserMessage{ID: "m", Parts: []trace.InputPart{{Type: trace.InputText, Text: "prompt of " + id}}}}
			if _, err := s.AppendWith(t.Context(), e, "t", []trace.Event{{ID: "p", Payload: prompt}}); err != nil {
				t.Fatal(err)
			}
		}
		within := func(what string, is func() bool) {
			t.Helper()
			for began := time.Now(); !is(); time.Sleep(10 * time.Millisecond) {
				if time.Since(began) > time.Minute {
					t.Fatal(what)
				}
			}
		}
		first := open(t, sqllog.IndexAfter(o, time.Hour))
		sqllog.HoldIndex(first)
		put(first, "early")
		if got := search(t, first, "early"); got != "" {
			t.Errorf("the commit of a prompt has its words: %q is found", got)
		}
		if o.URL != "" {
			o.Dir = t.TempDir()
		}
		second := open(t, o)
		within("a prompt of a process that was killed is not found", func() bool { return search(t, second, "title early") == "early" })
		put(second, "late")
		within("a new prompt is not found", func() bool { return search(t, second, "title late") == "late" })
	})
}

// recovered damages a database so that the start is refused, and returns a directory with a recovered one.
func recovered(t *testing.T, o sqllog.Options) sqllog.Options {
	t.Helper()
	path := filepath.Join(o.Dir, "tributary.db")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(whole, []byte("answer for person-1")) / 4096 * 4096
	clear(whole[at : at+4096])
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, refused(t, o), "is damaged")
	next := sqllog.Options{Dir: t.TempDir()}
	if _, err := sqllog.Recover(t.Context(), path, filepath.Join(next.Dir, "tributary.db")); err != nil {
		t.Fatal(err)
	}
	return next
}

// A recovered database gets a new index from its records.
func TestASearchFindsTheSessionsOfARecoveredDatabase(t *testing.T) {
	t.Parallel()
	s := open(t, recovered(t, damagedFiles(t, false)))
	awaitIndex(t, s)
	if got := search(t, s, "secret answer person 4"); got != "session-4" {
		t.Errorf("found %q", got)
	}
}

// A recovered database has how far exporters are.
func TestExportersGoOnWithARecoveredDatabase(t *testing.T) {
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
	s := open(t, recovered(t, o))
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
