package uistream_test

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// A turn that has ended asks nothing: no request of it comes as one that can be answered, in its
// stream and in its history alike, also where its process was killed at any record.
//
//evidence:for promise-resume
func TestATurnThatHasEndedAsksNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records, o := drawTurn(t), drawOptions(t)
		if rapid.Bool().Draw(t, "killed") {
			records = killed(t, records, rapid.IntRange(2, len(records)-1).Draw(t, "at"))
		}
		history, err := uistream.History(seq(durable(records)), o)
		if err != nil {
			t.Fatal(err)
		}
		refused := map[string]bool{}
		for _, r := range records {
			if p, ok := r.Payload.(trace.PermissionResponse); ok && p.Outcome == trace.Selected && !p.Allowed() {
				refused[p.RequestID] = true
			}
		}
		for place, all := range map[string][]uistream.Message{"stream": messages(t, translate(o, records)), "history": history} {
			for _, m := range all {
				for _, p := range m.Parts {
					waits := p.State == "approval-requested" || p.State == "approval-responded" || p.State == "input-available"
					if o.RFC { // which shows no end of a call that was allowed or never asked for, and a refusal as an error
						waits = p.State == "approval-requested" && !refused[p.Approval.ID]
					}
					if waits {
						t.Fatalf("the %s has a part that waits: %s", place, asJSON(p))
					}
				}
			}
		}
	})
}

// killed are the records of a turn whose process was killed behind the first n, and which the next
// gateway has closed.
func killed(t *rapid.T, records []trace.Record, n int) []trace.Record {
	left := durable(records[:n])
	b := trace.Restore(context.Background(), trace.Config{
		Turn: "t1",
		Now:  func() time.Time { return time.Unix(0, 0) },
		Append: func(_ context.Context, events []trace.Event) error {
			for _, e := range events {
				left = append(left, trace.Record{Session: "s", Turn: "t1", Seq: uint64(n*3 + len(left)*3 + 1), Event: e})
			}
			return nil
		},
	}, left)
	if err := b.Finish(trace.Stop{Reason: trace.ReasonRestart, Outcome: trace.OutcomeFailed, Error: "The gateway was restarted."}); err != nil {
		t.Fatal(err)
	}
	return left
}
