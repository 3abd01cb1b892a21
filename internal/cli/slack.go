package cli

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
)

// How much more garbage may gather between two collections. A gateway with a hundred
// streams keeps some 30 MB and makes as much garbage every second: it would be
// collected once a second, and words wait for that. A small machine has no such room.
const (
	mostSlack = 128 << 20
	slackOf   = 16 // this part of the memory, at most
)

// reserveSlack lets the garbage collector wait for longer, until release is called.
// The heap may grow to twice what lives in it, and this lives in it. It is never
// written to, so it has no memory of its own: a gateway takes that much more at most,
// and one with a large heap is collected as ever. A percentage would take the more
// the larger the heap is. An operator who has set how Go collects knows better.
func reserveSlack() (release func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	slack := make([]byte, slackFor(memory()))
	return func() { runtime.KeepAlive(slack) }
}

// slackFor is the slack where there is so much memory; 0: nobody knows.
func slackFor(memory int64) int64 {
	if memory <= 0 {
		return mostSlack / 2
	}
	return min(mostSlack, memory/slackOf)
}

// memory is how much this process may have, as Linux tells: its control group or, if
// that is not bounded, the machine. Elsewhere it is 0.
func memory() int64 {
	if limit, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if n, err := strconv.ParseInt(string(bytes.TrimSpace(limit)), 10, 64); err == nil { // "max" is no bound
			return n
		}
	}
	var kb int64
	if machine, err := os.ReadFile("/proc/meminfo"); err == nil {
		_, _ = fmt.Sscanf(string(machine), "MemTotal: %d kB", &kb)
	}
	return kb << 10
}
