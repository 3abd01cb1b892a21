package codex_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/tributary-dev/tributary/adapter/codex"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

// recorded returns the recordings by name.
func recorded(t testing.TB) map[string][]byte {
	t.Helper()
	return replaytest.Recordings(t, "../../testdata/codex")
}

// play runs a recording through a new decoder.
func play(t testing.TB, recording []byte) replaytest.Played {
	t.Helper()
	return replaytest.Play(t, codex.NewDecoder(codex.Options{}), recording)
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, recording := range recorded(t) {
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

func TestEveryRecordedTurnEndsOnceAndLeavesNoCallOpen(t *testing.T) {
	t.Parallel()
	for name, recording := range recorded(t) {
		for i, records := range play(t, recording).Turns {
			events := replaytest.Events(records)
			if stops := agenttest.Each[trace.Stop](events); len(stops) != 1 {
				t.Errorf("%s: turn %d has %d ends", name, i+1, len(stops))
			}
			var calls, results []string
			for _, c := range agenttest.Each[trace.ToolCall](events) {
				calls = append(calls, c.ToolCallID)
			}
			for _, r := range agenttest.Each[trace.ToolResult](events) {
				results = append(results, r.ToolCallID)
			}
			slices.Sort(calls)
			slices.Sort(results)
			if calls = slices.Compact(calls); !slices.Equal(calls, results) {
				t.Errorf("%s: turn %d calls %v and has the results %v", name, i+1, calls, results)
			}
		}
	}
}
