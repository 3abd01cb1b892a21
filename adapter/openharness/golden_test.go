package openharness_test

import (
	"path/filepath"
	"testing"

	"github.com/tributary-dev/tributary/adapter/openharness"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
)

const recordings = "../../test/recordings/openharness"

func play(t testing.TB, recording []byte) replaytest.Played {
	t.Helper()
	return replaytest.Play(t, openharness.NewDecoder(), recording)
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, recording := range replaytest.Recordings(t, recordings) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := play(t, recording)
			if p.Skipped > 0 {
				t.Errorf("%d messages were not understood: %v", p.Skipped, p.First)
			}
			replaytest.Golden(t, filepath.Join("testdata", "golden", name+".jsonl"), replaytest.Lines(t, p.Records))
		})
	}
}

// FuzzDecode holds every turn to the grammar, whatever the bytes are.
func FuzzDecode(f *testing.F) {
	for _, recording := range replaytest.Recordings(f, recordings) {
		f.Add(recording)
	}
	f.Fuzz(func(t *testing.T, recording []byte) {
		if err := replaytest.AnyInput(t, openharness.NewDecoder(), recording); err != nil {
			t.Error(err)
		}
	})
}

func TestAStepIsOneCallOfTheModel(t *testing.T) {
	t.Parallel()
	for name, recording := range replaytest.Recordings(t, recordings) {
		replaytest.StepsAreModelCalls(t, name, play(t, recording).Turns)
	}
}
