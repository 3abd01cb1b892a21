package sqllog_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/trace"
)

// SQLite acknowledges a durable record when the disk has it, also behind a checkpoint, which may
// be lost. What only opens a part does not wait for the disk, and nor does an event of the agent's world. With NoSync no record does.
func TestSQLiteSyncsEveryDurableRecord(t *testing.T) {
	t.Parallel()
	const full, normal = 2, 1
	for _, c := range []struct {
		noSync bool
		want   int
	}{{false, full}, {true, normal}} {
		s := open(t, sqllog.IndexAfter(sqllog.Options{Dir: t.TempDir(), NoSync: c.noSync}, time.Hour))
		sqllog.HoldIndex(s)
		synced := func(what string, want int, events ...trace.Event) {
			t.Helper()
			if _, err := s.Append(t.Context(), "s", "t1", events); err != nil {
				t.Fatal(err)
			}
			if mode, err := sqllog.Synchronous(t.Context(), s); mode != want || err != nil {
				t.Errorf("NoSync %v: %s is committed with synchronous = %d, %v; want %d", c.noSync, what, mode, err, want)
			}
		}
		call := event(trace.ToolCall{ToolCallID: "c", Name: "sh"})
		synced("the beginning of a turn", c.want, begins("p"))
		for i := range 3 {
			part := fmt.Sprint("p", i)
			synced("the beginning of a part", normal, begins(part))
			synced("a call", c.want, call)
			if _, err := s.Append(t.Context(), "s", "t1", []trace.Event{grows(part, "text")}); err != nil {
				t.Fatal(err)
			}
			checkpointed := func() bool {
				mode, err := sqllog.Synchronous(t.Context(), s)
				return mode == normal || err != nil
			}
			for deadline := time.Now().Add(time.Minute); !checkpointed(); time.Sleep(5 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("no checkpoint is committed without waiting for the disk")
				}
			}
			synced("the end of a part, behind a checkpoint", c.want, ends(part, "text"))
		}
		synced("a score", c.want, event(trace.Score{Turn: "t1", Name: "tests", Verdict: trace.ScorePass}.Payload()))
		synced("an event of the agent's world", normal, event(trace.Data{Name: "modes", Value: []byte("{}"), Domain: true}))
		synced("a beginning and an end", c.want, begins("p9"), ends("p9", "text"))
		synced("the beginning of a call", normal, event(trace.ToolCallStart{ToolCallID: "c", Name: "sh"}))
		synced("a call", c.want, call)
		if err := s.Sent(t.Context(), "x", "s", 1); err != nil {
			t.Fatal(err)
		}
		if mode, err := sqllog.Synchronous(t.Context(), s); mode != normal || err != nil {
			t.Errorf("the position of an exporter is committed with synchronous = %d, %v", mode, err)
		}
	}
}
