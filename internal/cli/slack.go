package cli

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
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

// memoryShare is the bound on the large requests of one principal, for a size of the memory; 0
// is an unknown size. Chats that come in, answers that go out, and the messages of agents that
// work have such a bound each.
func memoryShare(memory int64) int64 {
	const (
		most, least = 400 << 20, 64 << 20
		of          = 8
	)
	if memory <= 0 {
		return most
	}
	return min(most, max(least, memory/of))
}

// memory is the size of the memory that this process may use: what the operator says, or the
// bound of its control group or, without a bound, the memory of the machine. If none is
// known, the size is 0.
func memory() int64 {
	if os.Getenv("GOMEMLIMIT") != "" {
		return debug.SetMemoryLimit(-1)
	}
	if group := groupMemory(); group > 0 {
		return group
	}
	machine, _ := memlimit.FromSystem()
	return int64(min(machine, math.MaxInt64)) //nolint:gosec // it is at most that
}

// groupMemory is the bound of the control group; 0 if there is none.
func groupMemory() int64 {
	group, err := memlimit.FromCgroup()
	if err != nil || group > math.MaxInt64 {
		return 0
	}
	return int64(group)
}

// heapOf is the share of the control group's memory at which Go collects garbage more
// often instead of growing. The rest is for the log's engine, stacks and bursts.
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
