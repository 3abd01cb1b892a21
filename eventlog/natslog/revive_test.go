package natslog_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tributary-dev/tributary/eventlog/natslog"
	"github.com/tributary-dev/tributary/trace"
)

// The embedded server has given up, as it does when its disk is full. Writes fail
// while the disk takes nothing, and go well as soon as it does, from everybody at
// once; all that was acknowledged before is there, and no number comes twice.
func TestStreamsAreOpenedAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, natslog.Options{Dir: dir})
	log := write(t, s, "s", "t", 0, 40)
	if err := s.StopStreams(); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), "s", []byte("{}")); err == nil {
		t.Fatal("a document was written to streams that are closed")
	}
	room := filepath.Join(dir, ".room") // a directory of that name is as good as no room
	if err := os.Mkdir(room, 0o700); err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(room, "x")
	if err := os.WriteFile(full, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.Append(t.Context(), "s", "t", []trace.Event{text(40)}); err == nil {
			t.Fatal("a record was written though the disk takes nothing")
		}
	}
	if err := os.RemoveAll(room); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	others := make([][]trace.Record, 4)
	for i := range others {
		writers.Go(func() { others[i] = write(t, s, string(rune('a'+i)), "t", 0, 20) })
	}
	more := write(t, s, "s", "t", 40, 30)
	writers.Wait()
	if more[0].Seq <= log[len(log)-1].Seq {
		t.Errorf("numbers went back to %d", more[0].Seq)
	}
	check := func(s *natslog.Store) {
		t.Helper()
		sameRecords(t, read(t, s, "s"), append(append([]trace.Record{}, log...), more...))
		for i, want := range others {
			sameRecords(t, read(t, s, string(rune('a'+i))), want)
		}
		if len(s.Damaged()) != 0 {
			t.Errorf("damaged: %v", s.Damaged())
		}
	}
	check(s)
	closeStore(t, s)
	check(open(t, natslog.Options{Dir: dir}))
}
