package natslog_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/natslog"
	"github.com/tributary-dev/tributary/trace"
)

func closeStore(t *testing.T, s *natslog.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestReopen closes and opens at lengths around the borders of index messages.
func TestReopen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var log []trace.Record
	var turns []eventlog.TurnMark
	epoch := ""
	for round, n := range []int{1, 2, 380, 5, 400, 1} {
		s := open(t, natslog.Options{Dir: dir})
		if epoch != "" && s.Epoch() != epoch {
			t.Fatalf("the epoch changed from %s to %s", epoch, s.Epoch())
		}
		epoch = s.Epoch()
		turn := fmt.Sprintf("turn %d", round)
		log = append(log, write(t, s, "s", turn, len(log), n)...)
		turns = append(turns, eventlog.TurnMark{Turn: turn, First: log[len(log)-n].Seq})
		if round%2 == 0 {
			log = append(log, finish(t, s, "s", turn))
			turns[round].Last = log[len(log)-1].Seq
		}
		if round > 2 { // the turn of an earlier life goes on
			last := &turns[round-1]
			if last.Last == 0 {
				log = append(log, finish(t, s, "s", last.Turn))
				last.Last = log[len(log)-1].Seq
			}
		}
		if len(s.Damaged()) != 0 {
			t.Fatalf("damaged: %v", s.Damaged())
		}
		closeStore(t, s)
	}
	s := open(t, natslog.Options{Dir: dir})
	got, err := s.Turns(t.Context(), "s", 0, 2) // before anything old was looked up
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(turns[len(turns)-2:], got); d != "" {
		t.Fatal(d)
	}
	sameRecords(t, read(t, s, "s"), log)
	if got, err = s.Turns(t.Context(), "s", 0, 0); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(turns, got); d != "" {
		t.Fatal(d)
	}
}

// TestNumbersGoOnAfterDelete: also when the store was closed in between.
func TestNumbersGoOnAfterDelete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, natslog.Options{Dir: dir})
	log := write(t, s, "s", "t", 0, 300)
	if err := s.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		closeStore(t, s)
		s = open(t, natslog.Options{Dir: dir})
		if len(s.Damaged()) != 0 {
			t.Fatalf("damaged: %v", s.Damaged())
		}
	}
	if rs := read(t, s, "s"); len(rs) != 0 {
		t.Fatalf("%d records are left", len(rs))
	}
	again := write(t, s, "s", "t", 0, 200)
	if first := again[0].Seq; first <= log[len(log)-1].Seq {
		t.Fatalf("numbers went back to %d", first)
	}
	closeStore(t, s)
	s = open(t, natslog.Options{Dir: dir})
	sameRecords(t, read(t, s, "s"), again)
	if len(s.Damaged()) != 0 {
		t.Fatalf("damaged: %v", s.Damaged())
	}
}

func TestSecondOpenerIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, natslog.Options{Dir: dir})
	_, err := natslog.Open(t.Context(), natslog.Options{Dir: dir})
	var held *eventlog.HeldError
	if !errors.As(err, &held) || !strings.Contains(err.Error(), fmt.Sprintf("process %d (started ", os.Getpid())) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("the second opener got %v", err)
	}
	write(t, s, "s", "t", 0, 1)
	closeStore(t, s)
	closeStore(t, open(t, natslog.Options{Dir: dir}))
}

// TestProvisionalRecordsGo: by age, whether somebody looks or not.
func TestProvisionalRecordsGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, natslog.Options{Dir: dir, Keep: 400 * time.Millisecond})
	log := write(t, s, "s", "t", 0, 300)
	kept := wholes(log)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		rs := read(t, s, "s") // never an error, whatever is just going
		sameRecords(t, wholes(rs), kept)
		if len(rs) == len(kept) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d provisional records are still there", len(rs)-len(kept))
		}
	}
	more := write(t, s, "s", "t", 300, 2)
	if more[0].Seq != 301 {
		t.Fatalf("numbers go on with %d", more[0].Seq)
	}
	closeStore(t, s)
	time.Sleep(500 * time.Millisecond)
	s = open(t, natslog.Options{Dir: dir})
	if last, err := s.Last(t.Context(), "s"); err != nil || last != 302 {
		t.Fatalf("last is %d, %v", last, err)
	}
	sameRecords(t, wholes(read(t, s, "s")), wholes(append(log, more...)))
	if len(s.Damaged()) != 0 {
		t.Fatalf("damaged: %v", s.Damaged())
	}
}

// TestLongSession has more index messages than are kept in memory.
func TestLongSession(t *testing.T) {
	t.Parallel()
	options := natslog.Options{Dir: t.TempDir(), MaxPayload: 8 << 10}
	s := open(t, options)
	var log []trace.Record
	var turns []eventlog.TurnMark
	check := func() {
		t.Helper()
		for before, end := uint64(0), len(turns); end > 0; {
			got, err := s.Turns(t.Context(), "s", before, 70)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(turns[max(0, end-70):end], got); d != "" {
				t.Fatalf("turns up to %d (-want +got):\n%.2000s", end, d)
			}
			before, end = got[0].First, end-len(got)
		}
		sameRecords(t, read(t, s, "s"), log)
	}
	// Somebody pages through history all the while.
	ctx, cancel := context.WithCancel(t.Context())
	var paging sync.WaitGroup
	defer paging.Wait()
	defer cancel()
	paging.Go(func() {
		for ctx.Err() == nil {
			if _, err := s.Turns(ctx, "s", 0, 0); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			seen := uint64(0)
			for r, err := range s.Wholes(ctx, "s", 0, 0) {
				if ctx.Err() != nil {
					return
				}
				if err != nil || r.Seq <= seen {
					t.Errorf("number %d after %d, %v", r.Seq, seen, err)
					return
				}
				seen = r.Seq
			}
		}
	})
	for i := range 600 {
		turn := fmt.Sprintf("turn %d", i)
		log = append(log, write(t, s, "s", turn, 3*i, 2)...)
		turns = append(turns, eventlog.TurnMark{Turn: turn, First: log[len(log)-2].Seq})
		if i >= 40 { // turns end long after they began
			log = append(log, finish(t, s, "s", turns[i-40].Turn))
			turns[i-40].Last = log[len(log)-1].Seq
		}
		if i%250 == 249 {
			check()
		}
	}
	check()
	cancel()
	paging.Wait()
	closeStore(t, s)
	s = open(t, options)
	check()
	if err := s.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	log, turns = nil, nil
	check()
	closeStore(t, s)
	s = open(t, options)
	check()
	if len(s.Damaged()) != 0 {
		t.Errorf("damaged: %v", s.Damaged())
	}
}

const childDir = "NATSLOG_TEST_CHILD_DIR"

// TestChild is not a test: it is the process that TestKill kills.
func TestChild(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		t.Skip("runs only as a child of TestKill")
	}
	s, err := natslog.Open(t.Context(), natslog.Options{Dir: dir, MaxPayload: 16 << 10})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("epoch", s.Epoch())
	start := time.Now().UnixNano()
	for i := 0; ; i++ {
		session := strconv.Itoa(i % 3)
		events := []trace.Event{text(i), text(i + 1), text(i + 2)}
		if i%50 == 0 {
			events[0].Payload = trace.Message{Text: strings.Repeat("large ", 10_000)}
		}
		if i%20 == 0 {
			events = append(events, trace.Event{Payload: trace.Stop{}})
		}
		last, err := s.Append(t.Context(), session, fmt.Sprintf("%d/%d", start, i/20), events)
		if err != nil {
			fmt.Println("error", err)
			return
		}
		fmt.Println("acked", session, last-uint64(len(events))+1, last)
	}
}

// TestKill kills a process that appends, again and again. Nothing that was
// acknowledged may be missing.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	acked := map[string]map[uint64]bool{"0": {}, "1": {}, "2": {}}
	last := map[string]uint64{}
	epoch, clean := "", false
	for round := range 5 {
		child := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v") //nolint:gosec,noctx // ourselves, and killed below
		child.Env = append(os.Environ(), childDir+"="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		n, enough := 0, 150+round*97
		for lines := bufio.NewScanner(out); lines.Scan(); {
			switch f := strings.Fields(lines.Text()); {
			case len(f) == 4 && f[0] == "acked":
				from, err1 := strconv.ParseUint(f[2], 10, 64)
				to, err2 := strconv.ParseUint(f[3], 10, 64)
				if err1 != nil || err2 != nil || from <= last[f[1]] {
					t.Fatalf("after number %d: %s", last[f[1]], lines.Text())
				}
				for i := from; i <= to; i++ {
					acked[f[1]][i] = true
				}
				last[f[1]] = to
				if n++; n == enough {
					_ = child.Process.Kill()
				}
			case len(f) == 2 && f[0] == "epoch":
				if (f[1] == epoch) != clean {
					t.Errorf("the epoch was %s, after an end that was clean=%v it is %s", epoch, clean, f[1])
				}
				epoch = f[1]
			case len(f) > 0 && f[0] == "error":
				t.Error(lines.Text())
			}
		}
		_ = child.Wait() // it was killed
		if n < enough {
			t.Fatalf("the child ended after %d appends", n)
		}
		if clean = round%2 == 1; !clean {
			continue // the next child finds what this one left
		}
		s := open(t, natslog.Options{Dir: dir, MaxPayload: 16 << 10})
		if s.Epoch() == epoch {
			t.Error("the epoch outlived a kill")
		}
		epoch = s.Epoch()
		checkAll(t, s, acked, last)
		closeStore(t, s)
	}
}

// checkAll reads everything: what was acknowledged, and the marks of the turns.
func checkAll(t *testing.T, s *natslog.Store, acked map[string]map[uint64]bool, last map[string]uint64) {
	t.Helper()
	if len(s.Damaged()) != 0 {
		t.Errorf("damaged: %v", s.Damaged())
	}
	for session, numbers := range acked {
		first, stop := map[string]uint64{}, map[string]uint64{}
		seen, there := uint64(0), 0
		for _, r := range read(t, s, session) {
			if r.Seq <= seen {
				t.Errorf("session %s: number %d follows %d", session, r.Seq, seen)
			}
			seen = r.Seq
			if numbers[r.Seq] {
				there++
			}
			if first[r.Turn] == 0 {
				first[r.Turn] = r.Seq
			}
			if _, ok := r.Payload.(trace.Stop); ok && stop[r.Turn] == 0 {
				stop[r.Turn] = r.Seq
			}
		}
		if there != len(numbers) {
			t.Errorf("session %s: of %d acknowledged records %d are there", session, len(numbers), there)
		}
		turns, err := s.Turns(t.Context(), session, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(turns) < len(first) {
			t.Errorf("session %s: records of %d turns, but %d turns", session, len(first), len(turns))
		}
		for _, m := range turns {
			// A kill between the beginning of a turn and its first record leaves a
			// turn without records.
			if f := first[m.Turn]; f != 0 && f != m.First || stop[m.Turn] != m.Last {
				t.Errorf("session %s: turn %+v begins at %d and stops at %d", session, m, f, stop[m.Turn])
			}
		}
		n, err := s.Last(t.Context(), session)
		if err != nil || n < last[session] || n < seen {
			t.Errorf("session %s: last is %d, %v", session, n, err)
		}
		last[session] = n
	}
}

// blocks are the files that hold the messages of the wholes.
func blocks(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "nats", "jetstream", "*", "streams", "tributary_wholes", "msgs", "*.blk"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no blocks in %s (%v)", dir, err)
	}
	return files
}
