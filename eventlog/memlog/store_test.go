package memlog_test

import (
	"testing"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/logtest"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/trace"
)

func TestStore(t *testing.T) {
	t.Parallel()
	logtest.Run(t, func(*testing.T) eventlog.Store { return memlog.New() })
}

func TestDropProvisional(t *testing.T) {
	t.Parallel()
	s := memlog.New()
	events := []trace.Event{
		{ID: "1", Payload: trace.MessageDelta{Delta: "a"}},
		{ID: "2", Payload: trace.Message{Text: "a"}},
		{ID: "3", Payload: trace.Status{}},
		{ID: "4", Payload: trace.Stop{}},
	}
	if _, err := s.Append(t.Context(), "s", "t", events); err != nil {
		t.Fatal(err)
	}
	s.DropProvisional("s")
	s.DropProvisional("nobody")
	var seqs []uint64
	for r, err := range s.After(t.Context(), "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, r.Seq)
	}
	if len(seqs) != 2 || seqs[0] != 2 || seqs[1] != 4 {
		t.Fatalf("what is left has numbers %v", seqs)
	}
	turns, err := s.Turns(t.Context(), "s", 0, 0)
	if err != nil || len(turns) != 1 || turns[0] != (eventlog.TurnMark{Turn: "t", First: 2, Last: 4}) {
		t.Fatalf("turns are %v, %v", turns, err)
	}
}
