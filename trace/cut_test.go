package trace_test

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// A text that is too long ends with a mark. Later text of the agent for it, as
// deltas or as full texts, before its end or after it, changes nothing.
func TestTextsAreCut(t *testing.T) {
	t.Parallel()
	const limit = 100
	long := strings.Repeat("é", 80)
	for name, say := range map[string]func(*trace.Builder){
		"deltas": func(b *trace.Builder) {
			b.MessageDelta("k", long[:90])
			b.MessageDelta("k", long[90:])
			b.MessageDelta("k", "more")
			b.MessageEnd("k")
		},
		"whole":        func(b *trace.Builder) { b.Message("k", long) },
		"deltas,whole": func(b *trace.Builder) { b.MessageDelta("k", long); b.Message("k", long+"more") },
		"twice":        func(b *trace.Builder) { b.MessageDelta("k", long); b.MessageEnd("k"); b.Message("k", long) },
		"snapshots": func(b *trace.Builder) {
			b.MessageSnapshot("k", long)
			b.MessageSnapshot("k", long+long)
			b.MessageEnd("k")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			texts, _, counts := written[trace.Message](t, say, func(c *trace.Config) { c.MaxEvent = limit })
			if len(texts) != 1 || !strings.HasPrefix(texts[0].Text, long[:limit]+"…[cut by the gateway") || counts.Cut != 1 || counts.Contradicted != 0 {
				t.Errorf("%d texts, %v, %+v", len(texts), texts, counts)
			}
		})
	}
}

// The words about a failure are cut, whoever says them: they go to a client several times.
//
//evidence:for limit-failure
func TestWordsAboutAFailureAreCut(t *testing.T) {
	t.Parallel()
	const limit = 64 << 10
	short, long := strings.Repeat("x", limit), "x"+strings.Repeat("é", limit)
	cut := long[:limit-1] + "…[cut by the gateway: the output was too large]"
	for said, want := range map[string]string{short: short, long: cut} {
		b, log := newTurn()
		b.Emit(trace.Error{Message: said, Code: said})
		b.End(trace.Stop{Outcome: trace.OutcomeFailed, Reason: said, Error: said})
		if r, _ := b.Result(); r.Reason != want || r.Error != want {
			t.Errorf("the result has a reason of %d bytes and an error of %d, want %d", len(r.Reason), len(r.Error), len(want))
		}
		if err := b.Finish(trace.Stop{Outcome: trace.OutcomeFailed, Reason: said, Error: said}); err != nil {
			t.Fatal(err)
		}
		for _, e := range log.events {
			switch p := e.Payload.(type) { //nolint:gochecksumtype // the others say nothing of it
			case trace.Error:
				if p.Message != want || p.Code != want {
					t.Errorf("an error has a message of %d bytes and a code of %d, want %d", len(p.Message), len(p.Code), len(want))
				}
			case trace.Stop:
				if p.Error != want || p.Reason != want {
					t.Errorf("the stop has an error of %d bytes and a reason of %d, want %d", len(p.Error), len(p.Reason), len(want))
				}
			}
		}
	}
}
