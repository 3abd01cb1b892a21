package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

var update = flag.Bool("update", false, "write the golden files anew")

// aDay is what two people and an agent do to a session.
func aDay() []trace.Record {
	var records []trace.Record
	add := func(turn string, payloads ...trace.Payload) {
		for _, p := range payloads {
			records = append(records, trace.Record{Session: "s", Turn: turn, Seq: uint64(len(records)) + 1, Event: trace.Event{Payload: p}})
		}
	}
	add("t1", trace.Prompt{Message: text("u1", "hello"), By: "ada"}, trace.Reply{MessageID: "m1"}, trace.Message{Text: "Hello."})
	add("t2", trace.Prompt{Message: text("u2", "and then?"), By: "bob"})
	add("t3", trace.Prompt{Message: text("u3", "never mind"), By: "bob"})
	add("t3", trace.Stop{Outcome: trace.OutcomeCanceled, Reason: "not_run"})
	add("t1", trace.Stop{Outcome: trace.OutcomeCompleted, Reason: "end_turn"})
	add("t2", trace.Reply{MessageID: "m2"})
	add("t2", trace.PermissionRequest{RequestID: "r1"}, trace.PermissionRequest{RequestID: "r2"}, trace.Question{QuestionID: "q1"})
	add("t2", trace.PermissionResponse{RequestID: "r0", Outcome: trace.Selected, By: "policy"}) // which nobody was asked
	add("t2", trace.Pause{Requests: []string{"r1", "r2"}})
	add("t2", trace.PermissionResponse{RequestID: "r2", Outcome: trace.Selected, By: "ada"})
	add("t2", trace.Pause{Requests: []string{"r1"}}) // let go of, when it was held before
	add("t2", trace.PermissionResponse{RequestID: "r1", Outcome: trace.Selected, By: "bob"})
	add("t2", trace.Pause{Requests: []string{"q1"}})
	add("", trace.Data{Name: "title", Value: json.RawMessage(`"Greetings"`)})
	add("t4", trace.Reply{MessageID: "m4", Cause: trace.CauseAgent}, trace.Stop{Outcome: trace.OutcomeFailed, Reason: "agent_lost"})
	add("t2", trace.Answer{QuestionID: "q1", Outcome: trace.Selected, By: "ada"})
	add("t2", trace.Pause{Requests: []string{"q1"}}) // the answer was quicker
	add("t2", trace.PermissionRequest{RequestID: "r3"}, trace.Pause{Requests: []string{"r3"}})
	add("t2", trace.Rewind{To: "u2"}, trace.PermissionResponse{RequestID: "r3", Outcome: trace.Canceled}, trace.Stop{Outcome: trace.OutcomeCanceled, Reason: "superseded"})
	add("t5", trace.Rewind{To: "u2"}, trace.Prompt{Message: text("u2", "and now?"), By: "bob"}, trace.Reply{MessageID: "m5"})
	add("t5", trace.Question{QuestionID: "q2"}, trace.Pause{Requests: []string{"q2"}})
	add("t5", trace.Prompt{Message: text("u5", "blue"), By: "bob"}, trace.Reply{MessageID: "m6"}, trace.Answer{QuestionID: "q2", Outcome: trace.Selected, By: "bob"}) // in words
	add("t5", trace.Question{QuestionID: "q3"}, trace.Pause{Requests: []string{"q3"}})
	return records
}

func lines(events []session.Event) []byte {
	var b bytes.Buffer
	for _, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "%d %s\n", e.Seq, line)
	}
	return b.Bytes()
}

func TestEventsOfRecords(t *testing.T) {
	t.Parallel()
	records := aDay()
	all, open := session.Digest(records, 0)
	golden := filepath.Join("testdata", "events.txt")
	if *update {
		if err := os.WriteFile(golden, lines(all), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(lines(all))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]session.TurnStatus{{Turn: "t5", State: session.TurnPaused, By: "bob", MessageID: "m6", Requests: []string{"q3"}}}, open); d != "" {
		t.Error(d)
	}
	// An event that was made does not change with what comes later.
	for i := range records {
		some, _ := session.Digest(records[:i], 0)
		if d := cmp.Diff(all[:len(some)], some, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("after %d records: %s", i, d)
		}
	}
}

// watcher follows a session's events; next waits until nothing more comes.
type watcher struct {
	t      *testing.T
	events chan session.Event
	leave  context.CancelFunc
}

func (b *bench) events(mark *uint64) *watcher {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	events, err := b.Events(ctx, "s", mark)
	if err != nil {
		b.t.Fatal(err)
	}
	w := &watcher{b.t, make(chan session.Event, 1000), cancel}
	go func() {
		defer close(w.events)
		for e, err := range events {
			if err != nil {
				b.t.Error(err)
				return
			}
			w.events <- e
		}
	}()
	return w
}

// next is what has come since.
func (w *watcher) next() []session.Event {
	synctest.Wait()
	var all []session.Event
	for {
		select {
		case e, ok := <-w.events:
			if !ok {
				return all
			}
			all = append(all, e)
		default:
			return all
		}
	}
}

// short is what events say, in a word each.
func short(events []session.Event) []string {
	var all []string
	for _, e := range events {
		word := string(e.Type)
		if e.Type == session.EventTurn {
			word = string(e.State)
		}
		if e.Reset {
			word += " reset"
		}
		for _, turn := range e.Turns {
			word += " " + string(turn.State)
		}
		all = append(all, word)
	}
	return all
}

func (w *watcher) expect(words ...string) []session.Event {
	w.t.Helper()
	events := w.next()
	if got := short(events); !slices.Equal(got, words) {
		w.t.Fatalf("events %q, want %q", got, words)
	}
	return events
}

func TestANewTitleIsAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		w := b.events(nil)
		defer w.leave()
		w.expect("session")
		rename := func(title string) {
			if _, err := b.Change(t.Context(), "s", session.Change{Title: &title}); err != nil {
				t.Fatal(err)
			}
		}
		rename("Rivers")
		if e := w.expect("title"); e[0].Title != "Rivers" {
			t.Errorf("%+v", e)
		}
		rename("Rivers") // it is no new one
		rename("Seas")
		if e := w.expect("title"); e[0].Title != "Seas" {
			t.Errorf("%+v", e)
		}
		again := b.events(nil)
		defer again.leave()
		if e := again.expect("session"); e[0].Title != "Seas" {
			t.Errorf("%+v", e)
		}
	})
}

//evidence:for promise-tabs
func TestEventsTellATab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		w := b.events(nil)
		defer w.leave()
		w.expect("session")
		first := b.say("u1", "slow")
		began := w.expect("queued", "title", "running")
		if e := began[2]; e.Turn != first.ID || e.MessageID != first.MessageID || e.By != "ada" {
			t.Errorf("%+v", e)
		}
		b.say("u2", "hello")
		w.expect("queued")
		second := b.events(nil) // a tab that is opened now
		defer second.leave()
		if e := second.expect("session running queued"); e[0].Title != "slow" || e[0].Turns[0].Turn != first.ID {
			t.Errorf("%+v", e)
		}
		b.wait(first)
		time.Sleep(time.Minute)
		w.expect("ended", "running", "ended")
		second.expect("ended", "running", "ended")
		again, err := b.Prompt(t.Context(), "s", session.Prompt{Regenerate: true, By: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		b.wait(again)
		w.expect("history", "queued", "running", "ended")
		if _, err := b.Delete(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		w.expect("deleted")
	})
}

// A client that comes back with a mark gets the later events, once, wherever its
// stream was cut.
//
//evidence:for promise-tabs
func TestEventsGoOnAfterAnyMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		zero := uint64(0)
		w := b.events(&zero)
		defer w.leave()
		b.say("u1", "slow")
		b.say("u2", "ask") // waits for an answer
		time.Sleep(time.Minute)
		all := w.next()
		if len(all) < 6 {
			t.Fatalf("%q", short(all))
		}
		last, err := b.log.Last(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		for mark := range last + 1 {
			again := b.events(&mark)
			want := slices.DeleteFunc(slices.Clone(all), func(e session.Event) bool { return e.Seq <= mark })
			if d := cmp.Diff(want, again.next(), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("after %d: %s", mark, d)
			}
			again.leave()
		}
	})
}

//evidence:for promise-damage
func TestAMarkThatLeadsNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		b.wait(b.say("u1", "hello"))
		far := uint64(1000)
		w := b.events(&far)
		defer w.leave()
		w.expect("session reset")
		last, err := b.log.Last(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Delete(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Events(t.Context(), "s", nil); err == nil {
			t.Error("a deleted session has events")
		}
		if _, err := b.Create(t.Context(), session.Spec{ID: "s"}); err != nil {
			t.Fatal(err)
		}
		before := last - 1
		of := b.events(&before) // of the session that was
		defer of.leave()
		of.expect("session reset")
	})
}

// A session that somebody watches stays in memory, and its watchers do not end.
func TestEventsOutliveRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		w := b.events(nil)
		time.Sleep(time.Hour)
		b.wait(b.say("u1", "hello"))
		w.expect("session", "queued", "title", "running", "ended")
		w.leave()
		synctest.Wait()
		time.Sleep(time.Hour)
		if n := b.InMemory(); n != 0 {
			t.Errorf("%d sessions in memory", n)
		}
	})
}
