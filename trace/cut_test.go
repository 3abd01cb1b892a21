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
