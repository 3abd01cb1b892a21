package opencode_test

import "testing"

// FuzzDecoder: whatever a server says, each turn obeys the grammar and ends once.
func FuzzDecoder(f *testing.F) {
	seeds := [][]byte{[]byte(`{"dir":"sse","msg":{"type":"message.updated","properties":{"info":{"role":"assistant"}}}}` + "\n" + `{"dir":"sse","msg":{"type":"session.idle","properties":{}}}`)}
	for _, recording := range recordings().All(f) {
		seeds = append(seeds, recording[:min(len(recording), 6000)])
	}
	recordings().Fuzz(f, seeds...)
}

// TestDamagedRecordings loses, doubles and swaps lines of the recordings.
func TestDamagedRecordings(t *testing.T) {
	t.Parallel()
	recordings().Damaged(t, 20)
}
