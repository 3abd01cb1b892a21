package cli

import (
	"os"
	"runtime"

	"github.com/tributary-dev/tributary/session/agentset"
)

// The ballast bounds the garbage that may gather between two collections. A gateway with a
// hundred streams keeps some 30 MB and makes as much garbage every second. Without ballast
// Go would collect once a second, and words wait for a collection. A small machine gets
// less ballast.
const (
	maxBallast = 128 << 20
	ballastOf  = 16 // the ballast is at most the memory divided by this
)

// reserveBallast makes the garbage collector wait for longer, until the caller calls
// release. Go lets the heap grow to twice the size of its live objects, and the ballast is a
// live object. The program never writes to the ballast, so the ballast occupies no memory.
// The heap grows by the size of the ballast at most. A higher GOGC would cost more memory
// the larger the heap is. The settings of an operator come first.
func reserveBallast() (release func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	ballast := make([]byte, ballastFor(agentset.Memory()))
	return func() { runtime.KeepAlive(ballast) }
}

// ballastFor is the ballast for a size of the memory; 0 is an unknown size.
func ballastFor(memory int64) int64 {
	if memory <= 0 {
		return maxBallast / 2
	}
	return min(maxBallast, memory/ballastOf)
}
