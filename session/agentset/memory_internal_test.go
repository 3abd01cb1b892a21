package agentset

import "testing"

// A person's share of the memory leaves room for others, also on a small machine.
func TestTheShareOfOnePersonFollowsTheMemory(t *testing.T) {
	t.Parallel()
	for memory, want := range map[int64]int64{0: 400 << 20, 256 << 20: 64 << 20, 1 << 30: 128 << 20, 2 << 30: 256 << 20, 64 << 30: 400 << 20} {
		if got := memoryShare(memory); got != want {
			t.Errorf("of %d MB of memory %d MB are one person's, not %d", memory>>20, got>>20, want>>20)
		}
	}
}
