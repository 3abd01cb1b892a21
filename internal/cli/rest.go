package cli

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// An idle gateway returns the memory of its work to the system. Otherwise the collector
// would wait for two minutes, and keep the pages. The gateway returns memory soon after
// its work, and once more when the caches of the log are empty.
const (
	restEvery = 10 * time.Second
	restSoon  = 2 // looks at a gateway at rest
	restLate  = 7 // likewise
	// restQuiet is how many bytes an idle gateway may allocate between two looks: a
	// request for the metrics every second takes nearly three million.
	restQuiet = 4 << 20
)

// giveBack returns memory to the system whenever work has ended, until ctx ends.
func giveBack(ctx context.Context) {
	tick := time.NewTicker(restEvery)
	defer tick.Stop()
	last, quiet := allocated(), restLate
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := allocated()
		if quiet++; now-last > restQuiet {
			quiet = 0
		}
		if last = now; quiet == restSoon || quiet == restLate {
			debug.FreeOSMemory()
		}
	}
}

// allocated is how many bytes the process has allocated since its start.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
