package trace_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/trace"
)

// stands is the text of all parts that no retry superseded, in order.
func stands(t *rapid.T, b *trace.Builder, log *tape) string {
	if err := b.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
	if err := check(log.events); err != nil {
		t.Fatal(err)
	}
	var order []string
	texts := map[string]string{}
	for _, e := range log.events {
		if m, ok := e.Payload.(trace.Message); ok {
			if _, again := texts[m.Part]; !again {
				order = append(order, m.Part)
			}
			if texts[m.Part] = m.Text; m.Superseded {
				texts[m.Part] = ""
			}
		}
	}
	var all strings.Builder
	for _, id := range order {
		all.WriteString(texts[id])
	}
	return all.String()
}

// tell says a text in deltas, snapshots and a whole, in pieces cut anywhere.
func tell(t *rapid.T, b *trace.Builder, key, text string, whole bool) {
	for pos := 0; pos < len(text); {
		next := pos + rapid.IntRange(1, len(text)-pos).Draw(t, "size")
		switch rapid.SampledFrom([]string{"delta", "delta", "snapshot", "late", "step", "pause", "whole"}).Draw(t, "how") {
		case "delta":
			b.MessageDelta(key, text[pos:next])
			pos = next
		case "snapshot":
			b.MessageSnapshot(key, text[:next])
			pos = next
		case "late":
			b.MessageSnapshot(key, text[:pos])
		case "step":
			b.StepStart(trace.Step{})
		case "pause":
			b.Question(trace.Question{})
		case "whole":
			if whole {
				pos = len(text)
			}
		}
	}
	if whole {
		b.Message(key, text)
	}
	if rapid.Bool().Draw(t, "end") {
		b.MessageEnd(key)
	}
}

// However an agent tells a text, it is on record once and whole.
func TestATextIsOnRecordOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 30, -1).Draw(t, "text")
		b, log := newTurn()
		tell(t, b, "a", text, true)
		if got := stands(t, b, log); got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

// A retry that repeats what failed leaves its own text, whether it goes on from
// there or takes another way.
func TestARetriedTextIsOnRecordOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.RuneFrom([]rune("ab😀")), 0, 20, -1)
		b, log := newTurn()
		last := strings.Repeat("beginning", 2) + letters.Draw(t, "first")
		b.MessageDelta("0", last)
		for _, key := range []string{"1", "2", "3"}[:rapid.IntRange(0, 3).Draw(t, "retries")] {
			b.MessageRepeats(key, string(key[0]-1))
			keep := rapid.IntRange(len("beginningbeginning"), len(last)).Draw(t, "keep")
			last = strings.ToValidUTF8(last[:keep], "") + letters.Draw(t, "rest")
			tell(t, b, key, last, true)
		}
		if got := stands(t, b, log); got != last {
			t.Fatalf("%q, want %q", got, last)
		}
	})
}
