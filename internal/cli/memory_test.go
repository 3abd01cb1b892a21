package cli

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/tributary-dev/tributary/session/agentset"
)

func TestTheHeapHasBallastUnlessGoIsTold(t *testing.T) {
	for _, c := range []struct {
		gogc, limit string
		reserved    bool
	}{{"", "", true}, {"100", "", false}, {"off", "", false}, {"", "1GiB", false}} {
		t.Setenv("GOGC", c.gogc)
		t.Setenv("GOMEMLIMIT", c.limit)
		before := livingHeap()
		release := reserveBallast()
		if got := livingHeap()-before > ballastFor(agentset.Memory())/2; got != c.reserved {
			t.Errorf("with GOGC=%q and GOMEMLIMIT=%q it is %v that there is ballast", c.gogc, c.limit, got)
		}
		release()
	}
}

// A container of 256 MB has no room for 128 MB more garbage.
func TestASmallMachineHasLittleBallast(t *testing.T) {
	t.Parallel()
	for memory, want := range map[int64]int64{256 << 20: 16 << 20, 1 << 30: 64 << 20, 2 << 30: 128 << 20, 64 << 30: 128 << 20, 0: 64 << 20} {
		if got := ballastFor(memory); got != want {
			t.Errorf("of %d MB of memory %d MB are ballast, not %d", memory>>20, got>>20, want>>20)
		}
	}
	if runtime.GOOS == "linux" && agentset.Memory() < 64<<20 {
		t.Errorf("there are %d bytes of memory", agentset.Memory())
	}
}

// livingHeap is the size of the live objects in the heap.
func livingHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestTheBoundOfTheControlGroupBoundsTheHeap(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	before := debug.SetMemoryLimit(-1)
	release := boundHeap(1 << 30)
	if got := debug.SetMemoryLimit(-1); got != 768<<20 {
		t.Errorf("the limit is %d", got)
	}
	release()
	boundHeap(0)()
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("the limit is %d in the end, and was %d", got, before)
	}
}
