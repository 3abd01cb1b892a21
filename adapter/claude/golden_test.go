package claude_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/replay"
	"github.com/tributary-dev/tributary/trace"
)

var update = flag.Bool("update", false, "write the golden files anew")

const recordings = "../../testdata/claude"

// names lists the recordings.
func names(t testing.TB) []string {
	files, err := filepath.Glob(recordings + "/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s (%v)", recordings, err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".jsonl")
	}
	return files
}

func read(t testing.TB, name string) []byte {
	data, err := os.ReadFile(filepath.Join(recordings, name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// play runs a recording through a new decoder.
func play(t testing.TB, recording []byte) ([]trace.Record, replay.Summary) {
	t.Helper()
	var records []trace.Record
	sum, err := replay.Run(t.Context(), claude.NewDecoder(claude.Options{}), bytes.NewReader(recording), func(r trace.Record) error {
		records = append(records, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return records, sum
}

func jsonl(t testing.TB, records []trace.Record) []byte {
	var out []byte
	for _, r := range records {
		line, err := r.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(append(out, line...), '\n')
	}
	return out
}

// turns groups the events by turn, in order.
func turns(records []trace.Record) [][]trace.Event {
	var all [][]trace.Event
	last := ""
	for _, r := range records {
		if r.Turn == "" {
			continue
		}
		if r.Turn != last {
			all, last = append(all, nil), r.Turn
		}
		all[len(all)-1] = append(all[len(all)-1], r.Event)
	}
	return all
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, name := range names(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, sum := play(t, read(t, name))
			if sum.Skipped > 0 {
				t.Errorf("%d messages were not understood: %v", sum.Skipped, sum.First)
			}
			for _, events := range turns(records) {
				if err := agenttest.CheckTurn(events); err != nil {
					t.Error(err)
				}
			}
			got := jsonl(t, records)
			path := filepath.Join("testdata", "golden", name+".jsonl")
			if *update {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); d != "" {
				t.Errorf("the trace differs from %s (-want +got):\n%s", path, d)
			}
		})
	}
}

// TestOutputAlone plays the agent's half of each recording as a plain stream:
// what the agent said must come out the same without the host's half.
func TestOutputAlone(t *testing.T) {
	t.Parallel()
	for _, name := range names(t) {
		var native []byte
		for line := range bytes.Lines(read(t, name)) {
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
		all, _ := play(t, read(t, name))
		alone, _ := play(t, native)
		for i, events := range turns(alone) {
			if err := agenttest.CheckTurn(events); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if d := cmp.Diff(agenttest.Said(turns(all)[i]), agenttest.Said(events)); d != "" {
				t.Errorf("%s: turn %d (-both halves +output alone):\n%s", name, i+1, d)
			}
		}
		if a, b := len(turns(all)), len(turns(alone)); a != b {
			t.Errorf("%s: %d turns, and %d with the output alone", name, a, b)
		}
	}
}
