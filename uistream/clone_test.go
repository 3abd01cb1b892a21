package uistream_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// A subscriber that falls behind goes on with a copy of the translator's state. The copy and
// the original do not disturb each other, and each says what it would have said alone.
func TestACloneGoesOnAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records, o := drawTurn(t), drawOptions(t)
		cut := rapid.IntRange(0, len(records)).Draw(t, "cut")
		original := uistream.NewTranslation(o)
		all := func(tr uistream.Translation, records []trace.Record) (made []uistream.Chunk) {
			for _, r := range records {
				made = append(made, tr.Translate(r)...)
			}
			return made
		}
		all(original, records[:cut])
		first, second := uistream.CloneTranslation(original), uistream.CloneTranslation(original)
		made := [][]uistream.Chunk{all(first, records[cut:]), all(original, records[cut:]), all(second, records[cut:])}
		whole := lines(translate(o, records))
		want := whole[len(lines(translate(o, records[:cut]))):]
		for i, chunks := range made {
			if got := lines(chunks); got != want {
				t.Fatalf("%d, cut at %d:\ngot  %s\nwant %s", i, cut, got, want)
			}
		}
	})
}
