package sqllog_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/trace"
)

// step6 are the statements that bring the records of a database back to the sixth step of the schema, and step1 from there
// to the first.
const (
	step6 = `ALTER TABLE store DROP COLUMN numbers_from; DROP TABLE gateways; ALTER TABLE places ADD COLUMN lease_until bigint NOT NULL DEFAULT 0;
	DROP VIEW trace; ALTER TABLE records DROP COLUMN id; ALTER TABLE records DROP COLUMN parent; ALTER TABLE records DROP COLUMN actor;
	ALTER TABLE records DROP COLUMN ns;
	DELETE FROM goose_db_version WHERE version_id > 7`
	step1 = `
	DROP TABLE grants; DROP TABLE exports; DROP INDEX turns_by_end;
	DROP TABLE IF EXISTS texts; DROP TABLE IF EXISTS searched; DROP TABLE IF EXISTS words; ALTER TABLE store DROP COLUMN indexed;
	DROP INDEX sessions_by_creator; DROP INDEX sessions_by_phase; DROP INDEX sessions_by_agent; DROP INDEX sessions_archived;
	ALTER TABLE sessions DROP COLUMN archived;
	ALTER TABLE sessions RENAME COLUMN phase TO unfinished;
	CREATE INDEX sessions_by_creator ON sessions (created_by, updated_at, id);
	CREATE INDEX sessions_unfinished ON sessions (updated_at, id) WHERE unfinished <> 0;
	DELETE FROM goose_db_version WHERE version_id > 1`
)

// fillStep6 writes the rows of a store of the sixth step, with the checksums of the version that wrote them: the
// sessions of fillForFlips, and one with each kind of record. The body of a record is the whole record there.
// The bodies of that session are returned.
func fillStep6(t *testing.T, o sqllog.Options, db *sql.DB) (bodies []string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), step6); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/step6.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var tables map[string]map[string]any
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.UseNumber()
		if err := decoder.Decode(&tables); err != nil {
			t.Fatal(err)
		}
		for table, columns := range tables {
			if body, is := columns["body"].(string); is && columns["session"] == "landed" {
				bodies = append(bodies, body)
			}
			names, values, places := slices.Sorted(maps.Keys(columns)), []any{}, []string{}
			for i, name := range names {
				value := columns[name]
				if n, is := value.(json.Number); is {
					value, _ = n.Int64()
				} else if text, is := value.(string); is && name == "body" && o.URL != "" {
					value = []byte(text)
				}
				values, places = append(values, value), append(places, fmt.Sprint("$", i+1))
			}
			insert := `INSERT INTO ` + table + ` (` + strings.Join(names, ", ") + `) VALUES (` + strings.Join(places, ", ") + `)`
			if _, err := db.ExecContext(t.Context(), insert, values...); err != nil {
				t.Fatal(err)
			}
		}
	}
	return bodies
}

func TestADatabaseOfAnEarlierVersionKeepsItsSessions(t *testing.T) {
	for step, back := range map[string]string{"6": "", "1": step1} {
		t.Run(step, func(t *testing.T) {
			onBoth(t, func(t *testing.T, o sqllog.Options) {
				if err := open(t, o).Close(); err != nil {
					t.Fatal(err)
				}
				db := behind(t, o)
				bodies := fillStep6(t, o, db)
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
				if n != flipSessions+1 {
					t.Errorf("%d sessions are listed", n)
				}
				awaitIndex(t, s)
				for i := range flipSessions {
					id, owner, _ := flipNames(i)
					if got := search(t, s, "secret answer "+owner); got != id {
						t.Errorf("%q finds %q", owner, got)
					}
				}
				if got := lines(t, s.After(t.Context(), "landed", 0)); !slices.Equal(got, bodies) {
					t.Errorf("read:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(bodies, "\n"))
				}
				copied(t, o, s, bodies)
			})
		})
	}
}

// copied appends the durable records of a session to another one, as this version keeps them, and compares.
func copied(t *testing.T, o sqllog.Options, s *sqllog.Store, want []string) {
	t.Helper()
	for r, err := range s.Durable(t.Context(), "landed", 0, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(t.Context(), "copied", r.Turn, []trace.Event{r.Event}); err != nil {
			t.Fatal(err)
		}
	}
	want = want[:len(want)-1] // the last one is a checkpoint
	sqllog.Forget(s)
	got := lines(t, s.Durable(t.Context(), "copied", 0, 0))
	for i, line := range want {
		if i < len(got) && strings.Replace(got[i], `"copied"`, `"landed"`, 1) != line {
			t.Errorf("read: %s\nwant: %s", got[i], line)
		}
	}
	before, after := messages(t, s, "landed"), messages(t, s, "copied")
	if len(got) != len(want) || len(before) == 0 || !slices.Equal(before, after) {
		t.Errorf("%d records of %d; the messages are %v, and were %v", len(got), len(want), after, before)
	}
	var whole int
	if err := behind(t, o).QueryRowContext(t.Context(), `SELECT count(*) FROM records WHERE session = 'copied' AND id IS NULL`).Scan(&whole); err != nil || whole != 2 {
		t.Errorf("%d records are kept whole, %v; want those with names that no column takes", whole, err)
	}
	rows, err := behind(t, o).QueryContext(t.Context(), `SELECT session, payload FROM trace WHERE kind = 'stop' AND session IN ('landed', 'copied')`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var session, payload string
		if err := rows.Scan(&session, &payload); err != nil || payload != `{"reason":"end_turn","outcome":"completed","final_output":"x"}` {
			t.Errorf("the view shows %s of %s, %v", payload, session, err)
		}
	}
}

// lines are records as they are exported.
func lines(t *testing.T, records iter.Seq2[trace.Record, error]) (all []string) {
	t.Helper()
	for r, err := range records {
		line, wrong := r.AppendJSON(nil)
		if err != nil || wrong != nil {
			t.Fatal(err, wrong)
		}
		all = append(all, string(line))
	}
	return all
}

func messages(t *testing.T, s *sqllog.Store, session string) (all []eventlog.MessageMark) {
	t.Helper()
	for m, err := range s.Messages(t.Context(), session) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
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
