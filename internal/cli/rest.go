package cli

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A gateway that has come to rest gives back the memory that its work took: left
// alone, the collector would wait for two minutes, and keep the pages. It does so
// soon, and once more when the caches of the log have gone too.
const (
	restEvery = 10 * time.Second
	restSoon  = 2 // looks at a gateway at rest
	restLate  = 7 // likewise
	// restQuiet is how many bytes an idle gateway may still allocate between two: a
	// request for its metrics every second takes nearly three million.
	restQuiet = 4 << 20
)

// giveBack gives memory back whenever work has ended, until ctx does.
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
