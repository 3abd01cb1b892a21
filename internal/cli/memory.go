package cli

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// heapOf is the share of the control group's memory at which Go collects garbage more
// often instead of growing. The log's engine, stacks and bursts need the other part.
const heapOf = 0.75

// boundHeap makes Go respect the bound of the control group, whose kernel would kill the
// process otherwise. The caller ends that with release. The settings of an operator come
// first.
func boundHeap(group int64) (release func()) {
	if group <= 0 || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetMemoryLimit(int64(float64(group) * heapOf))
	return func() { debug.SetMemoryLimit(before) }
}

// An idle gateway returns the memory of its work to the system. Otherwise the collector
// would wait for two minutes, and keep the pages. The gateway returns memory soon after
// its work, and once more when the caches of the log are empty.
const (
	idleCheckInterval = 10 * time.Second
	idleSoon          = 2 // checks in a row that found the gateway idle
	idleLate          = 7 // likewise
	// idleBytes is the memory that an idle gateway may allocate between two checks: a
	// request for the metrics every second takes nearly three million bytes.
	idleBytes = 4 << 20
)

// releaseIdleMemory returns memory to the system whenever work has ended, until ctx ends.
func releaseIdleMemory(ctx context.Context) {
	tick := time.NewTicker(idleCheckInterval)
	defer tick.Stop()
	last, idle := allocated(), idleLate
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := allocated()
		if idle++; now-last > idleBytes {
			idle = 0
		}
		if last = now; idle == idleSoon || idle == idleLate {
			debug.FreeOSMemory()
		}
	}
}

// allocated is the number of bytes that the process has allocated since its start.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
