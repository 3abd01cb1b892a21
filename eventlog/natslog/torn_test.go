package natslog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/eventlog/natslog"
	"github.com/tributary-dev/tributary/trace"
)

// A message of several records that is larger than the server takes is split, and
// its pieces may stand in two segments of the index. Whatever mark a reader comes
// with after a restart, it gets the records after it, and nothing is damaged.
func TestSplitBatchesAreReadFromAnyMark(t *testing.T) {
	t.Parallel()
	options := natslog.Options{Dir: t.TempDir(), MaxPayload: 8 << 10}
	for _, kind := range []string{"whole", "provisional"} {
		const batches, size = 30, 3
		store, err := natslog.Open(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		for i := range batches {
			var events []trace.Event
			for n := range size {
				var p trace.Payload = trace.Message{Text: strings.Repeat("m", 6_000)}
				if kind == "provisional" {
					p = trace.MessageDelta{Delta: strings.Repeat("d", 6_000)}
				}
				events = append(events, trace.Event{ID: fmt.Sprintf("%d.%d", i, n), Actor: trace.Agent, Payload: p})
			}
			if _, err := store.Append(t.Context(), kind, "t", events); err != nil {
				t.Fatal(err)
			}
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		for after := range uint64(batches * size) {
			if store, err = natslog.Open(t.Context(), options); err != nil { // so that nothing older is in memory
				t.Fatal(err)
			}
			rs, err := all(store.After(t.Context(), kind, after))
			if want := batches*size - int(after); err != nil || len(rs) != want || len(store.Damaged()) != 0 {
				t.Errorf("%s after %d: %d records, want %d: %v %v", kind, after, len(rs), want, err, store.Damaged())
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
