package sqllog_test

import (
	"context"
	"fmt"
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

func event(p trace.Payload) trace.Event {
	return trace.Event{ID: "e", Time: time.Now(), Actor: trace.Agent, Payload: p}
}

func begins(part string) trace.Event { return event(trace.MessageStart{Part: part, Role: "assistant"}) }

func grows(part, text string) trace.Event {
	return event(trace.MessageDelta{Part: part, Delta: text})
}

func ends(part, text string) trace.Event {
	return event(trace.Message{Part: part, Role: "assistant", Text: text})
}

func stops() trace.Event {
	return event(trace.Stop{Reason: "end_turn", Outcome: "completed"})
}

func add(t testing.TB, s eventlog.Store, events ...trace.Event) uint64 {
	t.Helper()
	return addTo(t, s, "s", events...)
}

func addTo(t testing.TB, s eventlog.Store, session string, events ...trace.Event) uint64 {
	t.Helper()
	last, err := s.Append(t.Context(), session, "t", events)
	if err != nil {
		t.Fatal(err)
	}
	return last
}

func read(t testing.TB, s eventlog.Store, after uint64) (all []trace.Record) {
	t.Helper()
	for r, err := range s.After(t.Context(), "s", after) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// deltas is the text of the deltas of a part.
func deltas(records []trace.Record, part string) string {
	var text strings.Builder
	for _, r := range records {
		if d, ok := r.Payload.(trace.MessageDelta); ok && d.Part == part {
			text.WriteString(d.Delta)
		}
	}
	return text.String()
}

// crashed opens what the disk has now of a store that is not closed, as the next
// process would after kill -9.
func crashed(t *testing.T, o sqllog.Options) *sqllog.Store {
	t.Helper()
	from := o.Dir
	o.Dir = t.TempDir()
	files, err := filepath.Glob(filepath.Join(from, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(o.Dir, filepath.Base(name)), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return open(t, o)
}

// onBoth runs a test on each engine.
func onBoth(t *testing.T, test func(*testing.T, sqllog.Options)) {
	t.Helper()
	t.Parallel()
	for name, options := range engines() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, options(t))
		})
	}
}

// checkpointed is longer than the time between two checkpoints.
const checkpointed = 500 * time.Millisecond

// awaitCheckpoint waits until a checkpoint has the record with a number.
func awaitCheckpoint(t *testing.T, o sqllog.Options, seq uint64) {
	t.Helper()
	db := behind(t, o)
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		var n int
		err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM checkpoints WHERE seq >= $1`, int64(seq)).Scan(&n) //nolint:gosec // a small number
		if err == nil && n > 0 {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatalf("there is no checkpoint of record %d: %v", seq, err)
		}
	}
}

//evidence:for promise-crash
func TestACrashKeepsTheCheckpoint(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		s := open(t, o)
		add(t, s, begins("p"), grows("p", "one "))
		add(t, s, grows("p", "two "), event(trace.ThoughtDelta{Part: "q", Delta: "hm"}))
		status := add(t, s, event(trace.ToolResultProgress{ToolCallID: "c", Output: []byte(`"half"`)}), event(trace.Status{State: "thinking"}))
		awaitCheckpoint(t, o, status-1)
		last := add(t, s, grows("p", "three "))
		if live := deltas(read(t, s, 0), "p"); live != "one two three " {
			t.Errorf("before the crash the text is %q", live)
		}
		next := crashed(t, o)
		after := read(t, next, 0)
		if text := deltas(after, "p"); !strings.HasPrefix(text, "one two ") {
			t.Errorf("after the crash the text is %q of %d records", text, len(after))
		}
		kinds := map[trace.Kind]int{}
		for _, r := range after {
			kinds[r.Payload.Kind()]++
		}
		if kinds[trace.KindMessageStart] != 1 || kinds[trace.KindMessageDelta] != 1 || kinds[trace.KindThoughtDelta] != 1 || kinds[trace.KindToolResultProgress] != 1 {
			t.Errorf("after the crash there are %v", kinds)
		}
		first := add(t, next, ends("p", "one two"), stops()) - 1
		if first <= last {
			t.Errorf("number %d is given again, up to %d was given before the crash", first, last)
		}
	})
}

//evidence:for promise-crash
func TestAnOrderlyCloseLosesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		s := open(t, o)
		last := add(t, s, begins("p"), grows("p", "one "), grows("p", "two"))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, o)
		if text := deltas(read(t, s, 0), "p"); text != "one two" {
			t.Errorf("the text is %q", text)
		}
		if next := add(t, s, grows("p", " three")); next != last+1 {
			t.Errorf("the next number is %d, the last one was %d", next, last)
		}
		if text := deltas(read(t, s, 0), "p"); text != "one two three" {
			t.Errorf("the text that goes on is %q", text)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if text := deltas(read(t, open(t, o), 0), "p"); text != "one two three" {
			t.Errorf("the text after both is %q", text)
		}
	})
}

func TestACheckpointGoesWithItsPart(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		s := open(t, o)
		awaitCheckpoint(t, o, add(t, s, begins("p"), grows("p", "one"), begins("q"), grows("q", "two")))
		add(t, s, ends("p", "one"))
		after := read(t, crashed(t, o), 0)
		if deltas(after, "p") != "" || deltas(after, "q") != "two" {
			t.Errorf("after the end of a part there are %v", after)
		}
	})
}

// One transaction may hold a checkpoint and the end of its part, where the database was
// away or busy. A checkpoint that stayed would be a part of the text in front of all of it.
//
//evidence:for promise-crash
func TestACheckpointOfTheSameTransactionGoesWithItsPart(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir()}
	s := open(t, o)
	awaitCheckpoint(t, o, add(t, s, begins("p"), grows("p", "one ")))
	lock(t, o.Dir)
	add(t, s, grows("p", "two"))
	time.Sleep(checkpointed)
	add(t, s, ends("p", "one two"))
	if after := read(t, crashed(t, o), 0); deltas(after, "p") != "" {
		t.Errorf("after the end of the part there are %v", after)
	}
}

func TestACheckpointGoesWithItsTurn(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		s := open(t, o)
		awaitCheckpoint(t, o, add(t, s, begins("p"), grows("p", "one")))
		add(t, s, stops())
		if after := read(t, crashed(t, o), 0); len(after) != 2 {
			t.Errorf("after the end of the turn there are %v", after)
		}
	})
}

func TestACheckpointOfALongPart(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		s := open(t, o)
		add(t, s, begins("p"))
		var want strings.Builder
		for i := range 40 {
			text := fmt.Sprintf("%d %s ", i, strings.Repeat("x", 10_000))
			want.WriteString(text)
			last := add(t, s, grows("p", text))
			if i%10 == 9 {
				awaitCheckpoint(t, o, last)
			}
		}
		after := read(t, crashed(t, o), 0)
		if text := deltas(after, "p"); text != want.String() {
			t.Errorf("the text has %d bytes, want %d", len(text), want.Len())
		}
		if len(after) > 12 {
			t.Errorf("it is in %d records", len(after))
		}
	})
}

// The memory of a store for an open turn is bounded. A reader that begins anywhere still gets the
// whole text, once.
func TestALongTurnInLittleMemory(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir(), LiveBytes: 8 << 10}
	s := open(t, o)
	parts := []string{"p", "q"}
	texts := map[string]*strings.Builder{}
	readers := map[uint64]map[string]string{} // by position: what was read up to there
	for _, p := range parts {
		texts[p] = &strings.Builder{}
		add(t, s, begins(p))
	}
	readers[0] = map[string]string{}
	for i := range 1500 {
		p := parts[rand.IntN(2)]
		word := fmt.Sprintf("%d ", i)
		texts[p].WriteString(word)
		last := add(t, s, grows(p, word))
		if i%100 == 0 {
			add(t, s, event(trace.Step{Phase: trace.PhaseStart}))
			readers[last] = map[string]string{"p": texts["p"].String(), "q": texts["q"].String()}
		}
	}
	for at, had := range readers {
		rest := read(t, s, at)
		for _, p := range parts {
			if got := had[p] + deltas(rest, p); got != texts[p].String() {
				t.Errorf("a reader that had everything up to %d has %d bytes of %s, want %d", at, len(got), p, texts[p].Len())
			}
		}
		for i := 1; i < len(rest); i++ {
			if rest[i].Seq <= rest[i-1].Seq {
				t.Fatalf("number %d comes after %d", rest[i].Seq, rest[i-1].Seq)
			}
		}
	}
	if n := len(read(t, s, 0)); n > 200 {
		t.Errorf("%d records are in memory", n)
	}
}

func TestARecordOf32MB(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		s := open(t, o)
		text := strings.Repeat("0123456789abcdef", 2<<20)
		add(t, s, ends("p", text), ends("q", text))
		add(t, s, ends("r", "small"), stops())
		n := 0
		for _, r := range read(t, s, 0) {
			if m, ok := r.Payload.(trace.Message); ok && (m.Text == text || m.Part == "r") {
				n++
			}
		}
		if n != 3 {
			t.Errorf("%d records of 3 are whole", n)
		}
	})
}

// A gateway releases an idle session. Another gateway gets the session at once, without a gap in its
// numbers, and the first gateway may get it again.
func TestAnIdleSessionIsGivenBack(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t), Idle: 100 * time.Millisecond, Linger: 100 * time.Millisecond}
	first := open(t, o)
	last := add(t, first, begins("p"), grows("p", "one"), ends("p", "one"), stops())
	o.Dir = t.TempDir() // another gateway
	second := open(t, o)
	for i, s := range []*sqllog.Store{second, first, second} {
		next := uint64(0)
		for began := time.Now(); next == 0; time.Sleep(50 * time.Millisecond) {
			var err error
			if next, err = s.Append(t.Context(), "s", fmt.Sprint("turn ", i), []trace.Event{begins("q"), stops()}); err != nil && time.Since(began) > time.Minute {
				t.Fatal(err)
			}
		}
		if next != last+2 {
			t.Errorf("the numbers go on to %d after %d", next, last)
		}
		last = next
	}
}

// A deletion that was cut short is finished by the next start.
func TestADeletionThatWasCutShort(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		s := open(t, o)
		var events []trace.Event
		for range 3000 {
			events = append(events, ends("p", "text"))
		}
		add(t, s, events...)
		ctx, cancel := context.WithCancel(t.Context())
		cut := make(chan struct{})
		go func() {
			defer close(cut)
			_ = s.Delete(ctx, "s") // it may get to its end
		}()
		for len(read(t, s, 0)) > 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
		<-cut
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, o)
		if n := len(read(t, s, 0)); n != 0 {
			t.Errorf("%d records are seen", n)
		}
		if last := add(t, s, begins("q")); last <= 3000 {
			t.Errorf("number %d is given again", last)
		}
	})
}
