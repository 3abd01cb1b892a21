package sqllog_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/trace"
)

const (
	flipSessions = 6
	flipTurns    = 4
)

func flipNames(i int) (session, owner, member string) {
	return fmt.Sprintf("session-%d", i), fmt.Sprintf("person-%d", i), fmt.Sprintf("guest-%d", i)
}

// fillForFlips writes sessions of several people, each with turns of a prompt, a text and a stop.
func fillForFlips(t *testing.T, s *sqllog.Store) {
	t.Helper()
	for i := range flipSessions {
		id, owner, member := flipNames(i)
		e := eventlog.Entry{
			Session: id, Agent: "demo", Title: "of " + owner, CreatedBy: owner, CreatedAt: time.Now(), Updated: time.Now(),
			Members: map[string]string{member: "viewer"}, Doc: []byte(`{"by":"` + owner + `"}`),
		}
		for j := range flipTurns {
			events := []trace.Event{
				{ID: fmt.Sprint("p", j), Payload: trace.Prompt{Message: trace.UserMessage{ID: fmt.Sprint("m", j), Parts: []trace.InputPart{{Type: "text", Text: "a secret of " + owner}}}, By: owner}},
				{ID: fmt.Sprint("t", j), Payload: trace.Message{Part: "p", Role: "assistant", Text: "an answer for " + owner}},
				{ID: fmt.Sprint("s", j), Payload: trace.Stop{Reason: "end_turn", Outcome: "completed"}},
			}
			if _, err := s.AppendWith(t.Context(), e, fmt.Sprint("turn", j), events); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// found is what a damaged log has.
type found struct {
	whole   map[string]bool // sessions of which everything is there
	free    map[string]bool // sessions of which nothing is there
	records map[string]int  // that can be read
	damage  eventlog.Damage
	refused error
}

// lookAround opens a log and reads everything as its people do, after the inspection. It
// fails the test where somebody sees what is another person's.
func lookAround(t *testing.T, o sqllog.Options) (f found) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s, err := sqllog.Open(ctx, o)
	if err != nil {
		f.refused = err
		return f
	}
	defer s.Close() //nolint:errcheck // a damaged database may say so at its end
	sqllog.AwaitInspection(s)
	f.whole, f.free, f.records = map[string]bool{}, map[string]bool{}, map[string]int{}
	for i := range flipSessions {
		id, owner, member := flipNames(i)
		doc, err := s.Get(ctx, id)
		if err == nil && !strings.Contains(string(doc), owner) {
			t.Errorf("the document of %s is %s", id, doc)
		}
		n, damaged := 0, err != nil
		f.free[id] = errors.Is(err, eventlog.ErrNoSession)
		for r, err := range s.After(ctx, id, 0) {
			if damaged = damaged || err != nil; err == nil {
				said := []string{"a secret of " + owner, "an answer for " + owner, "end_turn"}[n%3]
				n++
				if text, _ := r.MarshalJSON(); bytes.Contains(text, []byte("person-")) && !bytes.Contains(text, []byte(owner)) {
					t.Errorf("%s has %s", id, text)
				} else if !bytes.Contains(text, []byte(said)) {
					damaged = true
				}
			}
		}
		for _, person := range []string{owner, member} {
			listed := false
			for e, err := range s.List(ctx, eventlog.Query{Person: person}) {
				if err != nil {
					t.Error(err)
				} else if !e.Damaged && e.Session != id {
					t.Errorf("the list of %s has %s", person, e.Session)
				}
				listed = listed || e.Session == id && !e.Damaged
			}
			damaged = damaged || !listed
		}
		f.whole[id], f.records[id] = !damaged && n == 3*flipTurns, n
	}
	f.damage = s.Damage()
	return f
}

// judge fails the test if the log did not open, or if a session that is not whole is not said to be damaged.
func (f found) judge(t *testing.T, what string) {
	t.Helper()
	if f.refused != nil {
		t.Errorf("%s: the start is refused: %v", what, f.refused)
		return
	}
	for id, whole := range f.whole {
		if !whole && f.damage.Sessions[id] == "" {
			t.Errorf("%s: %s is not whole, and only these are said to be damaged: %v", what, id, f.damage)
		}
		if f.free[id] {
			t.Errorf("%s: the id %s is free", what, id)
		}
	}
}

// recovers recovers a database that was refused, and looks at the result as at a log. It fails the test if the
// counts are wrong, or if the damaged database has changed.
func recovers(t *testing.T, dir, what string) {
	t.Helper()
	before := snapshot(t, dir)
	o := sqllog.Options{Dir: t.TempDir()}
	made, err := sqllog.Recover(t.Context(), filepath.Join(dir, "tributary.db"), filepath.Join(o.Dir, "tributary.db"))
	if after := snapshot(t, dir); !maps.Equal(before, after) {
		t.Errorf("%s: Recover has changed the directory", what)
	}
	if err != nil {
		if !strings.Contains(err.Error(), "nothing can be read") && !strings.Contains(err.Error(), "is no file that can be read") {
			t.Errorf("%s: %v", what, err)
		}
		return
	}
	if made.Journal != strings.Contains(what, "-wal") {
		t.Errorf("%s: recover says of the journal: %v", what, made.Journal)
	}
	f := lookAround(t, o)
	counts := map[string]sqllog.RecoveredSession{}
	for _, s := range made.Sessions {
		counts[s.Session] = s
	}
	for id, is := range f.whole {
		s, named := counts[id]
		switch {
		case made.Journal: // the newest commits are lost, and leave no gap
			if s.Lost > 0 || s.Records != f.records[id] {
				t.Errorf("%s: recover counts %+v, and %d records can be read", what, s, f.records[id])
			}
			delete(f.whole, id)
		case !named && !f.free[id]:
			t.Errorf("%s: %s is not among the recovered sessions", what, id)
		case named && (s.Records != f.records[id] && !(s.Damage != "" && f.records[id] == 0) || is != (s.Damage == "") || (s.Lost > 0) != (s.Records < 3*flipTurns) || s.Records+s.Lost > 3*flipTurns+1):
			t.Errorf("%s: recover counts %+v, and %d records can be read", what, s, f.records[id])
		case !named:
			delete(f.whole, id) // nothing is left of it
		}
	}
	f.judge(t, what+", recovered")
}

// snapshot has the content of each file of a directory.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(text)
	}
	return all
}

// Each field of each kind of row, changed behind the gateway's back.
//
//evidence:for promise-damage
func TestAFlippedBitInAnyFieldIsFound(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		first := open(t, o)
		fillForFlips(t, first)
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		db := behind(t, o)
		for table, c := range map[string]struct{ where, texts, numbers string }{
			"sessions": {"id = 'session-3'", "id agent title kind created_by doc", "created_at updated_at phase members archived sum"},
			"places":   {"session = 'session-3'", "session", "last deleted_through registered sum"},
			"members":  {"session = 'session-3'", "session person role", "sum"},
			"records":  {"session = 'session-3' AND seq = 5", "session turn kind id actor body", "seq prev at ns sum mark_sum"},
			"turns":    {"session = 'session-3' AND turn = 'turn1'", "session turn", "first last sum end_sum"},
		} {
			if o.URL != "" && (table == "records" || table == "turns") {
				continue // PostgreSQL's own checksums are for these: nothing reads all of them at the start
			}
			values := map[string]string{} // by what is changed
			switch table {                // what is still JSON afterwards
			case "sessions":
				values["doc, a letter of a name"] = "doc = replace(doc, 'person', 'qerson')"
			case "records":
				values["body, a letter of a text"] = "body = replace(body, 'answer', 'onswer')"
			}
			for column := range strings.FieldsSeq(c.texts) {
				values[column+", the first letter"] = column + " = 'q' || substr(" + column + ", 2)"
			}
			for column := range strings.FieldsSeq(c.numbers) {
				values[column] = column + " = (" + column + " | 4096) - (" + column + " & 4096)"
				if o.URL != "" {
					values[column] = column + " = " + column + " # 4096"
				}
			}
			for column, value := range values {
				what := table + "." + column
				change(t, db, "UPDATE "+table+" SET "+value+" WHERE "+c.where, what, func() {
					f := lookAround(t, o)
					f.judge(t, what)
					if f.refused == nil && len(f.damage.Sessions) == 0 {
						t.Errorf("%s: nothing is said to be damaged", what)
					}
					for i := range flipSessions {
						if id, _, _ := flipNames(i); i != 3 && !f.whole[id] {
							t.Errorf("%s: %s is hurt as well: %v", what, id, f.damage)
						}
					}
				})
			}
		}
	})
}

// change does a statement, and undoes it by a copy of the table.
func change(t *testing.T, db *sql.DB, statement, what string, meanwhile func()) {
	t.Helper()
	table, _, _ := strings.Cut(what, ".")
	for _, q := range []string{"CREATE TABLE kept AS SELECT * FROM " + table, "CREATE TABLE names AS SELECT * FROM sessions", statement} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	meanwhile()
	undo := []string{"DELETE FROM sessions", "INSERT INTO sessions SELECT * FROM names", "DELETE FROM " + table, "INSERT INTO " + table + " SELECT * FROM kept", "DROP TABLE kept", "DROP TABLE names"}
	for _, q := range undo {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// damagedFiles is a data directory of a gateway that was killed, or that has ended.
func damagedFiles(t *testing.T, killed bool) (o sqllog.Options) {
	t.Helper()
	o = sqllog.Options{Dir: t.TempDir()}
	s := open(t, o)
	fillForFlips(t, s)
	if killed {
		copied := t.TempDir()
		if err := os.CopyFS(copied, os.DirFS(o.Dir)); err != nil {
			t.Fatal(err)
		}
		o.Dir = copied
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return o
}

// Every page of the database, every frame of the journal, and every file: flipped, zeroed, cut and
// deleted. The gateway starts and says which sessions are damaged, or it refuses to start; then Recover reads
// the rest.
//
//evidence:for promise-damage
func TestDamagedFilesHideNoSession(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a store is opened for each damage")
	}
	for _, killed := range []bool{false, true} {
		o := damagedFiles(t, killed)
		refusals := 0
		for name, whole := range snapshot(t, o.Dir) {
			for what, hurt := range damagesOf([]byte(whole)) {
				what = fmt.Sprintf("killed %v: %s %s", killed, name, what)
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(o.Dir)); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(dir, name)
				var err error
				if hurt == nil {
					err = os.Remove(path)
				} else {
					err = os.WriteFile(path, hurt, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
				files := snapshot(t, dir)
				f := lookAround(t, sqllog.Options{Dir: dir})
				if f.refused == nil {
					f.judge(t, what)
				} else {
					refusals++
					wants(t, f.refused.Error(), "the database "+filepath.Join(dir, "tributary.db")+" is ", "restore a back-up")
					if after := snapshot(t, dir); files["tributary.db"] != after["tributary.db"] || files["tributary.db-wal"] != after["tributary.db-wal"] {
						t.Errorf("%s: the start that is refused has changed the database", what)
					}
					if again := lookAround(t, sqllog.Options{Dir: dir}); again.refused == nil {
						t.Errorf("%s: the second start is not refused", what)
					}
					recovers(t, dir, what)
				}
				_ = os.RemoveAll(dir)
			}
		}
		if refusals < 10 {
			t.Errorf("killed %v: only %d starts were refused", killed, refusals)
		}
	}
}

// damagesOf are ways to damage a file; nil deletes it.
func damagesOf(whole []byte) map[string][]byte {
	const page, cuts = 4096, 3
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same places each time
	all := map[string][]byte{"deleted": nil, "empty": {}}
	if len(whole) == 0 {
		return all
	}
	for range cuts {
		n := random.IntN(len(whole))
		all[fmt.Sprint("cut at ", n)] = whole[:n]
	}
	const most = 16 // pages of a large file
	for at := 0; at < len(whole); at += page * max(1, len(whole)/page/most) {
		end := min(at+page, len(whole))
		zeros := bytes.Clone(whole)
		clear(zeros[at:end])
		all[fmt.Sprint("zeros at ", at)] = zeros
		bit := random.IntN((end - at) * 8)
		if at/page%2 == 0 {
			bit = random.IntN(min(end-at, 100) * 8) // the head of the page
		}
		flipped := bytes.Clone(whole)
		flipped[at+bit/8] ^= 1 << (bit % 8)
		all[fmt.Sprintf("bit %d at %d", bit, at)] = flipped
	}
	return all
}
