package claude_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/replay/replaytest"
)

// recorded returns the recordings, by name.
func recorded(t testing.TB) map[string][]byte {
	t.Helper()
	return replaytest.Recordings(t, "../../testdata/claude")
}

// play runs a recording through a new decoder.
func play(t testing.TB, recording []byte) replaytest.Played {
	t.Helper()
	return replaytest.Play(t, claude.NewDecoder(claude.Options{}), recording)
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

// TestOutputAlone plays the agent's half of each recording as a plain stream:
// what the agent said must come out the same without the host's half.
func TestOutputAlone(t *testing.T) {
	t.Parallel()
	for name, recording := range recorded(t) {
		var native []byte
		for line := range bytes.Lines(recording) {
			var l struct {
				Dir string
				Msg json.RawMessage
			}
			if err := json.Unmarshal(line, &l); err != nil {
				t.Fatal(err)
			}
			if l.Dir == "out" {
				native = append(append(native, l.Msg...), '\n')
			}
		}
		all, alone := play(t, recording).Turns, play(t, native).Turns
		if len(all) != len(alone) {
			t.Errorf("%s: %d turns, and %d with the output alone", name, len(all), len(alone))
			continue
		}
		for i := range alone {
			if d := cmp.Diff(agenttest.Said(replaytest.Events(all[i])), agenttest.Said(replaytest.Events(alone[i]))); d != "" {
				t.Errorf("%s: turn %d (-both halves +output alone):\n%s", name, i+1, d)
			}
		}
	}
}
