package agentset

import (
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// This file bounds what the prompts of one principal hold in memory.

// MemoryShare is the bound on the large requests of one principal in this process.
func MemoryShare() int64 { return memoryShare(Memory()) }

// Memory is the size of the memory that this process may use: the setting of the operator,
// else the bound of the control group, else the memory of the machine. If none is known, the
// size is 0.
func Memory() int64 {
	if os.Getenv("GOMEMLIMIT") != "" {
		return debug.SetMemoryLimit(-1)
	}
	if group := GroupMemory(); group > 0 {
		return group
	}
	machine, _ := memlimit.FromSystem()
	return int64(min(machine, math.MaxInt64)) //nolint:gosec // it is at most that
}

// GroupMemory is the bound of the control group; 0 if there is none.
func GroupMemory() int64 {
	group, err := memlimit.FromCgroup()
	if err != nil || group > math.MaxInt64 {
		return 0
	}
	return int64(group)
}

// memoryShare is the bound on the large requests of one principal, for a size of the memory;
// 0 is an unknown size. Chats that come in, answers that go out, and the messages of running
// agents have such a bound each.
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
