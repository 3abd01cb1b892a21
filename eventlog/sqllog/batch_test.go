package sqllog_test

import (
	"fmt"
	"testing"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// batch is an append that can be told from others.
func batch(i int) []trace.Event {
	return []trace.Event{begins(fmt.Sprint("p", i)), grows(fmt.Sprint("p", i), "text"), ends(fmt.Sprint("p", i), "text")}
}

// checkBatches checks that n batches are there once each, in order.
func checkBatches(t *testing.T, s eventlog.Store, session string, n int) {
	t.Helper()
	next := 0
	for r, err := range s.Durable(t.Context(), session, 0, 0) {
		if err != nil {
			t.Fatal(err)
		}
		part := fmt.Sprint("p", next/2)
		switch p := r.Payload.(type) {
		case trace.MessageStart:
			if p.Part != part || next%2 != 0 {
				t.Fatalf("record %d of %s is the beginning of %s", next, session, p.Part)
			}
		case trace.Message:
			if p.Part != part || next%2 != 1 {
				t.Fatalf("record %d of %s is the end of %s", next, session, p.Part)
			}
		default:
			t.Fatalf("record %d of %s is %v", next, session, r)
		}
		next++
	}
	if next != 2*n {
		t.Errorf("%s has %d durable records, want %d", session, next, 2*n)
	}
}
