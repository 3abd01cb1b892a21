package sqllog_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/trace"
)

// Recover loses the records of damaged pages, and no others of a long session: neither those between two
// damaged pages, nor those behind the last. A session whose newest records are lost is damaged, too.
//
//evidence:for promise-damage
func TestRecoverReadsAroundDamage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it reads thousands of records, one after another")
	}
	const records, onPage, page = 3000, 12, 4096
	o := sqllog.Options{Dir: t.TempDir()}
	s := open(t, o)
	for _, id := range []string{"first", "long", "next"} {
		var events []trace.Event
		for i := range records {
			events = append(events, trace.Event{ID: fmt.Sprint("e", i), Payload: trace.Message{Part: "p", Role: "assistant", Text: fmt.Sprintf("number %d of %s %s", i, id, strings.Repeat("x", 300))}})
		}
		if _, err := s.AppendWith(t.Context(), eventlog.Entry{Session: id, Agent: "demo", CreatedAt: time.Now(), Updated: time.Now(), Doc: []byte("{}")}, "t", events); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(o.Dir, "tributary.db")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"number 500 of long", "number 1500 of long", "number 2999 of next"} {
		at := bytes.LastIndex(whole, []byte(text)) / page * page
		clear(whole[at : at+page])
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, refused(t, o), "is damaged")
	next := sqllog.Options{Dir: t.TempDir()}
	found, err := sqllog.Recover(t.Context(), path, filepath.Join(next.Dir, "tributary.db"))
	if err != nil || len(found.Sessions) != 3 || strings.Join(found.Tables, " ") != "records" {
		t.Fatalf("%+v, %v", found, err)
	}
	s = open(t, next)
	sqllog.AwaitInspection(s)
	for i, gaps := range []int{0, 2, 1} {
		is := found.Sessions[i]
		n := 0
		for _, err := range s.After(t.Context(), is.Session, 0) {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		if is.Records != n || n < records-gaps*onPage || (n == records) != (gaps == 0) || is.Lost != gaps || (is.Damage == "") != (gaps == 0) {
			t.Errorf("of %d records of %s %d can be read, and recover says %+v", records, is.Session, n, is)
		}
		if said := s.Damage().Sessions[is.Session]; said != is.Damage {
			t.Errorf("the gateway says of %s %q, and recover %q", is.Session, said, is.Damage)
		}
		last, err := s.Last(t.Context(), is.Session)
		if next, failed := s.Append(t.Context(), is.Session, "more", []trace.Event{begins("q"), stops()}); err != nil || failed != nil || last < records || next < last+2 {
			t.Errorf("%s goes on from %d to %d: %v, %v", is.Session, last, next, err, failed)
		}
	}
}

// A copy of a running database is whole and is closed to other users. Restored twice, it gives no number twice.
func TestACopyOfARunningDatabase(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir()}
	s := open(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int)
	add(t, s, batch(0)...)
	go func() {
		n := 1
		for ; ctx.Err() == nil; n++ {
			if _, err := s.Append(t.Context(), "s", "t", batch(n)); err != nil {
				t.Error(err)
			}
		}
		ended <- n
	}()
	next := sqllog.Options{Dir: t.TempDir()}
	path := filepath.Join(next.Dir, "tributary.db")
	err := sqllog.CopySQLite(t.Context(), filepath.Join(o.Dir, "tributary.db"), path)
	cancel()
	n := <-ended
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := sqllog.CopySQLite(t.Context(), filepath.Join(o.Dir, "tributary.db"), path); !os.IsExist(err) {
		t.Errorf("a copy in the place of another one: %v", err)
	}
	again := sqllog.Options{Dir: t.TempDir()}
	if err := sqllog.CopySQLite(t.Context(), path, filepath.Join(again.Dir, "tributary.db")); err != nil {
		t.Fatal(err)
	}
	given := map[uint64]bool{add(t, s, batch(n)...): true}
	twice := open(t, again)
	given[add(t, twice, batch(n)...)] = true
	given[addTo(t, twice, "new", batch(0)...)] = true
	if _, err := behind(t, next).ExecContext(t.Context(), `UPDATE store SET numbers_from = $1`, -1-int64(1)<<52); err != nil { // by a clock that was ahead
		t.Fatal(err)
	}
	copied := open(t, next)
	sqllog.AwaitInspection(copied)
	durable := 0
	for range copied.Durable(t.Context(), "s", 0, 0) {
		durable++
	}
	if checkBatches(t, copied, "s", durable/2); durable < 2 || durable > 2*n {
		t.Errorf("of %d batches the copy has %d records", n, durable)
	}
	if damage := copied.Damage().Sessions; len(damage) > 0 {
		t.Errorf("damaged: %v", damage)
	}
	for _, session := range []string{"s", "new"} {
		if last := addTo(t, copied, session, batch(n)...); given[last] {
			t.Errorf("the session %s gives the number %d again", session, last)
		} else if last <= 1<<52 {
			t.Errorf("the session %s gives the number %d, below those of a clock that was ahead", session, last)
		}
	}
}
