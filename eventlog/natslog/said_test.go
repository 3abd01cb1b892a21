package natslog

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

func TestFirstLineWithMarks(t *testing.T) {
	t.Parallel()
	s := fitting([]eventlog.MessageMark{{Kind: trace.KindReply, Seq: 5, Turn: "t", Message: "m"}}, saidRoom)
	f := frame{Prev: 7, First: 5, Last: 9, Said: s}
	want, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.appendTo(nil, []byte("records")); err != nil || string(got) != string(want)+"\nrecords" {
		t.Errorf("written as %s, %v; want %s", got, err, want)
	}
}

// What messages a session has is known without reading its records, also in a store
// that was closed and opened.
func TestMessagesAreListedAfterAStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	add := func(turn string, e ...trace.Payload) {
		t.Helper()
		var events []trace.Event
		for i, p := range e {
			events = append(events, trace.Event{ID: fmt.Sprint(turn, i), Time: time.Unix(1, 0).UTC(), Actor: trace.Agent, Payload: p})
		}
		if _, err := s.Append(t.Context(), "s", turn, events); err != nil {
			t.Fatal(err)
		}
	}
	turns := func(from, to int) {
		for i := from; i < to; i++ {
			turn := fmt.Sprint("turn_", i)
			add(turn, trace.Prompt{Message: trace.UserMessage{ID: fmt.Sprint("u", i), Parts: []trace.InputPart{{Type: trace.InputText, Text: "hello"}}}, By: "ann"})
			add(turn, trace.Reply{MessageID: fmt.Sprint("m", i), Cause: trace.CausePrompt})
			add(turn, trace.Message{Part: "p", Role: trace.RoleAssistant, Text: "hello"})
			add(turn, trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted})
		}
	}
	unread := func() uint64 {
		se, err := s.acquire(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		defer s.release(se)
		o := s.outlineOf(se)
		for o.index != 0 {
			if err := o.back(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return o.unread
	}
	turns(0, 100)
	t.Logf("before: %d records have to be read", unread())
	for round := range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err = Open(t.Context(), Options{Dir: dir}); err != nil {
			t.Fatal(err)
		}
		if n := unread(); n > 0 {
			t.Errorf("start %d: %d records have to be read to know the messages", round, n)
		}
		turns(100+round*100, 200+round*100)
		if n := unread(); n > 0 {
			t.Errorf("start %d and 100 turns more: %d records have to be read", round, n)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
