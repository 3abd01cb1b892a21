package opencode_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/adapter/opencode"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/replay"
	"github.com/tributary-dev/tributary/internal/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

// recorded returns the recordings, by name.
func recorded(t testing.TB) map[string][]byte {
	t.Helper()
	return replaytest.Recordings(t, "../../testdata/opencode")
}

// play runs a recording through a new decoder.
func play(t testing.TB, recording []byte) replaytest.Played {
	t.Helper()
	return replaytest.Play(t, opencode.NewDecoder(opencode.Options{}), recording)
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

func TestEachTurnOfARecordingEndsByTheAgentsWord(t *testing.T) {
	t.Parallel()
	for name, recording := range recorded(t) {
		for i, records := range play(t, recording).Turns {
			stops := agenttest.Each[trace.Stop](replaytest.Events(records))
			if len(stops) != 1 || stops[0].Reason == replay.Ended {
				t.Errorf("%s: turn %d ends with %+v", name, i+1, stops)
			}
		}
	}
}

// TestTheStreamAlone plays the event stream of each recording without the requests: the
// agent says the same.
func TestTheStreamAlone(t *testing.T) {
	t.Parallel()
	for name, recording := range recorded(t) {
		if name == "plain-sync" {
			continue // the answer to the prompt holds the rest
		}
		var native []byte
		for line := range bytes.Lines(recording) {
			var l struct {
				Dir string
				Msg json.RawMessage
			}
			if err := json.Unmarshal(line, &l); err != nil {
				t.Fatal(err)
			}
			if l.Dir == "sse" {
				native = append(append(append(native, "data: "...), l.Msg...), "\n\n"...)
			}
		}
		all, alone := play(t, recording).Turns, play(t, native).Turns
		if len(all) != len(alone) {
			t.Errorf("%s: %d turns, and %d with the stream alone", name, len(all), len(alone))
			continue
		}
		for i := range alone {
			if d := cmp.Diff(agenttest.Said(replaytest.Events(all[i])), agenttest.Said(replaytest.Events(alone[i]))); d != "" {
				t.Errorf("%s: turn %d (-both halves +stream alone):\n%s", name, i+1, d)
			}
		}
	}
}
