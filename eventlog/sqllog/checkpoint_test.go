package sqllog_test

import (
	"database/sql"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/trace"
)

// await waits until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// checkpointRows are the sizes of the rows of checkpoints, by their keys and numbers.
func checkpointRows(t *testing.T, db *sql.DB) map[string]int {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT session, turn, part, chunk, seq, length(body) FROM checkpoints`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[string]int{}
	for rows.Next() {
		var session, turn, part string
		var chunk, seq int64
		var size int
		if err := rows.Scan(&session, &turn, &part, &chunk, &seq, &size); err != nil {
			t.Fatal(err)
		}
		all[fmt.Sprint(session, turn, part, chunk, seq)] = size
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// A checkpoint has what came behind the one before, and is not written again. The rows go with the part.
func TestTheTextOfAPartIsWrittenOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		s, db := open(t, o), behind(t, o)
		add(t, s, begins("p"))
		seen := map[string]int{}
		for len(seen) < 4 {
			add(t, s, grows("p", "x"))
			rows := checkpointRows(t, db)
			for key := range seen {
				if _, is := rows[key]; !is {
					t.Fatalf("the checkpoint %s was written again: there are %v", key, rows)
				}
			}
			maps.Copy(seen, rows)
		}
		add(t, s, ends("p", ""), begins("q"), grows("q", "text"))
		await(t, "only the open part has checkpoints", func() bool {
			rows := checkpointRows(t, db)
			for key := range rows {
				if !strings.Contains(key, "text q") {
					return false
				}
			}
			return len(rows) == 1
		})
		add(t, s, stops())
		await(t, "no checkpoint is left", func() bool { return len(checkpointRows(t, db)) == 0 })
	})
}

// A name of a part that comes again in the turn has its own text only.
func TestAPartWithTheNameOfOneThatHasEnded(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		s := open(t, o)
		awaitCheckpoint(t, o, add(t, s, begins("p"), grows("p", "first")))
		awaitCheckpoint(t, o, add(t, s, ends("p", "first"), begins("p"), grows("p", "second")))
		if text := deltas(read(t, crashed(t, o), 0), "p"); text != "second" {
			t.Errorf("the open part has %q", text)
		}
	})
}

// A record that cannot be written as JSON takes no other with it.
func TestACheckpointBesideARecordWithoutJSON(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		s := open(t, o)
		output := func(text string) trace.Event {
			return event(trace.ToolResultProgress{ToolCallID: "c", Output: []byte(text)})
		}
		late := grows("p", "lost ")
		late.Time = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
		add(t, s, begins("p"), grows("p", "one "), output(`"half"`), late, output(`"ha`))
		awaitCheckpoint(t, o, 3)
		awaitCheckpoint(t, o, add(t, s, grows("p", "two")))
		next := read(t, crashed(t, o), 0)
		if text := deltas(next, "p"); text != "one two" {
			t.Errorf("the text is %q", text)
		}
		for _, r := range next {
			if p, is := r.Payload.(trace.ToolResultProgress); is && string(p.Output) == `"half"` {
				return
			}
		}
		t.Errorf("the output is lost: %v", next)
	})
}

// The newest output of a call stays, however little memory there is.
func TestTheNewestOutputStays(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		o.LiveBytes = 1
		s := open(t, o)
		add(t, s, begins("p"))
		var last uint64
		for i := range 9 {
			last = add(t, s, event(trace.ToolResultProgress{ToolCallID: "c", Output: fmt.Appendf(nil, `"%d%s"`, i, strings.Repeat("x", 100_000))}))
		}
		awaitCheckpoint(t, o, last)
		for name, store := range map[string]*sqllog.Store{"in memory": s, "after a crash": crashed(t, o)} {
			all := read(t, store, last-1)
			if len(all) != 1 || !strings.HasPrefix(string(all[0].Payload.(trace.ToolResultProgress).Output), `"8x`) {
				t.Errorf("%s there are %d records", name, len(all))
			}
		}
	})
}

// A store that closes while the database is slow has all text.
func TestACloseBehindACheckpointThatWaits(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir()}
	s := open(t, o)
	add(t, s, begins("p"))
	lock(t, o.Dir)
	add(t, s, grows("p", "one "))
	time.Sleep(checkpointed)
	add(t, s, grows("p", "two"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if text := deltas(read(t, open(t, o), 0), "p"); text != "one two" {
		t.Errorf("the text is %q", text)
	}
}

// A deletion takes the checkpoint that waits in front of it.
func TestADeletionBehindACheckpointThatWaits(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir()}
	s, db := open(t, o), behind(t, o)
	add(t, s, begins("p"))
	lock(t, o.Dir)
	add(t, s, grows("p", "secret"))
	time.Sleep(checkpointed)
	if err := s.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if rows := checkpointRows(t, db); len(rows) > 0 {
		t.Errorf("the deleted session has checkpoints: %v", rows)
	}
}

// An earlier version had a row for each two kilobytes of a part, and a part that had ended had none.
func TestCheckpointsOfAnEarlierVersion(t *testing.T) {
	rows, err := os.ReadFile("testdata/checkpoints.sql")
	if err != nil {
		t.Fatal(err)
	}
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		s := open(t, o)
		add(t, s, begins("p"))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		statements := string(rows)
		if o.URL != "" {
			statements = strings.ReplaceAll(strings.ReplaceAll(statements, "'{", "convert_to('{"), "}', ", "}', 'UTF8'), ")
		}
		if _, err := behind(t, o).ExecContext(t.Context(), statements); err != nil {
			t.Fatal(err)
		}
		want := strings.Repeat("0", 1200) + " " + strings.Repeat("1", 1200) + " " + strings.Repeat("2", 1200) + " "
		s = open(t, o)
		for range 2 { // as it is in the database, and then in memory
			all := read(t, s, 0)
			if text := deltas(all, "p"); text != want {
				t.Errorf("the text is %q", text)
			}
			kinds := map[trace.Kind]int{}
			for _, r := range all {
				kinds[r.Payload.Kind()]++
			}
			if kinds[trace.KindThoughtDelta] != 1 || kinds[trace.KindToolResultProgress] != 1 || kinds[trace.KindToolCallDelta] != 1 {
				t.Errorf("there are %v", kinds)
			}
			want += "more"
			awaitCheckpoint(t, o, add(t, s, grows("p", "more")))
		}
		if text := deltas(read(t, crashed(t, o), 0), "p"); text != want {
			t.Errorf("after a crash the text is %q", text)
		}
	})
}
