package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/trace"
)

// known is a log with the session "s", which nobody uses yet.
func known(t *testing.T) *eventlog.Log {
	t.Helper()
	log := eventlog.New(memlog.New())
	if err := log.Put(t.Context(), eventlog.Entry{Session: "s", Doc: []byte(`{"id":"s","agent":"demo"}`)}); err != nil {
		t.Fatal(err)
	}
	return log
}

// record puts a turn on record that ended long ago, with so many bytes of text.
func record(t *testing.T, log *eventlog.Log, turn string, bytes int) {
	t.Helper()
	var events []trace.Event
	for i, p := range []trace.Payload{
		trace.Prompt{Message: text("u-"+turn, "go on")},
		trace.Reply{MessageID: "m-" + turn, Cause: trace.CausePrompt},
		trace.Message{Part: "text-1", Role: trace.RoleAssistant, Text: strings.Repeat("x", bytes)},
		trace.Stop{Outcome: trace.OutcomeCompleted},
	} {
		events = append(events, trace.Event{ID: fmt.Sprintf("%s.%d", turn, i), Time: time.Now(), Actor: trace.Agent, Payload: p})
	}
	if _, err := log.Append(t.Context(), "s", turn, events); err != nil {
		t.Fatal(err)
	}
}

// The size of a page is bounded, too. Large turns come in more pages, each turn whole. A
// turn that is larger than a page is a page of its own.
//
//evidence:for limit-page-bytes
func TestAPageOfLargeTurnsIsShort(t *testing.T) {
	t.Parallel()
	const page, mb = 32, 1 << 20
	log := known(t)
	var all []string
	for i, size := range []int{1, 9, 9, 9, 40, 1, 9, 20, 20, 1, 1} {
		turn := fmt.Sprint("turn", i)
		record(t, log, turn, size*mb)
		all = append(all, turn)
	}
	b := benchOn(t, log, nil)
	defer b.close()
	var shown []string
	pages := 0
	for before := ""; pages == 0 || before != ""; pages++ {
		p, err := b.History(t.Context(), "s", before, 100)
		if err != nil {
			t.Fatal(err)
		}
		var turns []string
		held := 0
		for r, err := range p.Records {
			if err != nil {
				t.Fatal(err)
			}
			held += trace.ApproxSize(r.Payload)
			if !slices.Contains(turns, r.Turn) {
				turns = append(turns, r.Turn)
			}
		}
		if len(turns) == 0 || len(turns) > 1 && held > page*mb {
			t.Fatalf("a page of %d turns holds %d MB", len(turns), held/mb)
		}
		shown = append(slices.Clone(turns), shown...)
		before = p.Before
	}
	if !slices.Equal(shown, all) || pages > 8 {
		t.Errorf("%d pages show %v", pages, shown)
	}
}

func TestAHistoryIsNotMadeForAClientThatHasGone(t *testing.T) {
	t.Parallel()
	log := known(t)
	record(t, log, "turn1", 1)
	b := benchOn(t, log, nil)
	defer b.close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p, err := b.History(ctx, "s", "", 100)
	if err != nil {
		t.Fatal(err)
	}
	var last error
	n := 0
	for r, err := range p.Records {
		if _, prompt := r.Payload.(trace.Prompt); prompt {
			cancel()
		}
		if last = err; err == nil {
			n++
		}
	}
	if n != 1 || !errors.Is(last, context.Canceled) {
		t.Errorf("%d records after the prompt, then %v", n-1, last)
	}
}
