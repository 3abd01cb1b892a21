package opencode_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/tributary-dev/tributary/adapter/opencode"
	"github.com/tributary-dev/tributary/internal/replay/replaytest"
)

// FuzzDecoder: whatever a server says, each turn obeys the grammar and ends once.
func FuzzDecoder(f *testing.F) {
	for _, recording := range recorded(f) {
		f.Add(recording[:min(len(recording), 6000)])
	}
	f.Add([]byte(`{"dir":"sse","msg":{"type":"message.updated","properties":{"info":{"role":"assistant"}}}}` + "\n" + `{"dir":"sse","msg":{"type":"session.idle","properties":{}}}`))
	f.Fuzz(func(t *testing.T, recording []byte) {
		if err := replaytest.Whatever(t, opencode.NewDecoder(opencode.Options{}), recording); err != nil {
			t.Error(err)
		}
	})
}

// TestDamagedRecordings loses, doubles and swaps lines of the recordings.
func TestDamagedRecordings(t *testing.T) {
	t.Parallel()
	for name, recording := range recorded(t) {
		lines := bytes.SplitAfter(recording, []byte("\n"))
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // damage that can be repeated
			var damaged []byte
			for i := range lines {
				switch r.IntN(12) {
				case 0: // lost
				case 1:
					damaged = append(append(damaged, lines[i]...), lines[i]...)
				case 2:
					damaged = append(damaged, lines[r.IntN(len(lines))]...)
				default:
					damaged = append(damaged, lines[i]...)
				}
			}
			if err := replaytest.Whatever(t, opencode.NewDecoder(opencode.Options{}), damaged); err != nil {
				t.Errorf("%s, seed %d: %v", name, seed, err)
			}
		}
	}
}
