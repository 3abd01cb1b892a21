package replaytest

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Recorded is an agent's recordings and the Decoder that reads them.
type Recorded struct {
	Dir string
	New func() agent.Decoder
}

// All returns the recordings by name.
func (r Recorded) All(t testing.TB) map[string][]byte {
	t.Helper()
	return Recordings(t, r.Dir)
}

// Play runs a recording through a new Decoder.
func (r Recorded) Play(t testing.TB, recording []byte) Played {
	t.Helper()
	return Play(t, r.New(), recording)
}

// Golden compares each recording with its golden file. The Decoder understands every
// message; each turn ends once and leaves no call open.
func (r Recorded) Golden(t *testing.T) {
	t.Helper()
	for name, recording := range r.All(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := r.Play(t, recording)
			if p.Skipped > 0 {
				t.Errorf("%d messages were not understood: %v", p.Skipped, p.First)
			}
			for i, records := range p.Turns {
				if open, stops := left(records); len(open) > 0 || stops != 1 {
					t.Errorf("turn %d has %d ends and leaves the calls %v open", i+1, stops, open)
				}
			}
			Golden(t, filepath.Join("testdata", "golden", name+".jsonl"), Lines(t, p.Records))
		})
	}
}

// left returns the calls without a result and counts the ends of a turn.
func left(records []trace.Record) (open map[string]bool, stops int) {
	open = map[string]bool{}
	for _, r := range records {
		switch p := r.Payload.(type) { //nolint:gochecksumtype // the others open no call and end none
		case trace.ToolCallStart:
			open[p.ToolCallID] = true
		case trace.ToolCall:
			open[p.ToolCallID] = true
		case trace.ToolResult:
			delete(open, p.ToolCallID)
		case trace.Stop:
			stops++
		}
	}
	return open, stops
}

// Damaged plays each recording with lines that are lost, doubled, moved and cut. Every
// turn must obey the grammar all the same.
func (r Recorded) Damaged(t *testing.T, seeds uint64, but ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("each recording is played many times")
	}
	for name, recording := range r.All(t) {
		if slices.Contains(but, name) {
			continue
		}
		lines := bytes.SplitAfter(recording, []byte("\n"))
		for seed := range seeds {
			if err := AnyInput(t, r.New(), damage(lines, rand.New(rand.NewPCG(seed, 1)))); err != nil { //nolint:gosec // damage that can be repeated
				t.Errorf("%s, damaged with seed %d: %v", name, seed, err)
			}
		}
	}
}

func damage(lines [][]byte, r *rand.Rand) (damaged []byte) {
	for _, line := range lines {
		switch r.IntN(12) {
		case 0: // lost
		case 1: // doubled
			damaged = append(append(damaged, line...), line...)
		case 2: // moved
			damaged = append(append(damaged, lines[r.IntN(len(lines))]...), line...)
		case 3: // cut
			damaged = append(append(damaged, line[:r.IntN(len(line)+1)]...), '\n')
		default:
			damaged = append(damaged, line...)
		}
	}
	return damaged
}

// Line is a line of a recording.
type Line struct {
	Dir string
	Msg json.RawMessage
}

// Alone plays a part of each recording: the turns show the same as with the whole. keep
// returns what remains of a line.
func (r Recorded) Alone(t *testing.T, keep func(l Line, raw []byte) []byte, shown func([]trace.Event) string, but ...string) {
	t.Helper()
	for name, recording := range r.All(t) {
		if slices.Contains(but, name) {
			continue
		}
		var part []byte
		for raw := range bytes.Lines(recording) {
			var l Line
			if err := json.Unmarshal(raw, &l); err != nil {
				t.Fatal(err)
			}
			part = append(part, keep(l, raw)...)
		}
		whole, alone := r.Play(t, recording).Turns, r.Play(t, part).Turns
		if len(whole) != len(alone) {
			t.Errorf("%s: %d turns, and %d with a part alone", name, len(whole), len(alone))
			continue
		}
		for i := range alone {
			if d := cmp.Diff(shown(Events(whole[i])), shown(Events(alone[i]))); d != "" {
				t.Errorf("%s: turn %d (-whole +part alone):\n%s", name, i+1, d)
			}
		}
	}
}

// Fuzz plays any bytes: every turn must obey the grammar.
func (r Recorded) Fuzz(f *testing.F, seeds ...[]byte) {
	f.Helper()
	for _, seed := range seeds {
		f.Add(seed)
	}
	minimizeLess(f)
	f.Fuzz(func(t *testing.T, recording []byte) {
		if err := AnyInput(t, r.New(), recording); err != nil {
			t.Error(err)
		}
	})
}

// minimizeLess bounds the work on each input that reaches new code. By default the fuzzer
// tries for a minute to make the input smaller, byte by byte. A recording has thousands of
// bytes, so the workers would do nothing else. The flag -fuzzminimizetime still decides.
func minimizeLess(f *testing.F) {
	f.Helper()
	const name, times = "test.fuzzminimizetime", "20x"
	chosen := false
	flag.Visit(func(set *flag.Flag) { chosen = chosen || set.Name == name })
	if chosen {
		return
	}
	if err := flag.Set(name, times); err != nil {
		f.Fatal(err)
	}
}
