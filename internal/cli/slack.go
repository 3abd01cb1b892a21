package cli

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
)

// The slack bounds the garbage that may gather between two collections. A gateway with a
// hundred streams keeps some 30 MB and makes as much garbage every second. Without slack
// Go would collect once a second, and words wait for a collection. A small machine gets
// less slack.
const (
	mostSlack = 128 << 20
	slackOf   = 16 // the slack is at most the memory divided by this
)

// reserveSlack lets the garbage collector wait for longer, until the caller calls release.
// Go lets the heap grow to twice the size of its live objects, and the slack is a live
// object. The program never writes to the slack, so the slack occupies no memory. The
// heap grows by the size of the slack at most. A higher GOGC would cost more memory the
// larger the heap is. The settings of an operator come first.
func reserveSlack() (release func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	slack := make([]byte, slackFor(memory()))
	return func() { runtime.KeepAlive(slack) }
}

// slackFor is the slack for a size of the memory; 0 is an unknown size.
func slackFor(memory int64) int64 {
	if memory <= 0 {
		return mostSlack / 2
	}
	return min(mostSlack, memory/slackOf)
}

// memory is the size of the memory that this process may use: the bound of its control
// group or, without a bound, the memory of the machine. On other systems than Linux the
// size is 0.
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
