package main

import (
	"os"
	"runtime"
)

// slackSize is how much more garbage may gather between two collections. A gateway
// with a hundred streams keeps some 26 MB and makes as much garbage every second: it
// would be collected once a second, and words wait for that.
const slackSize = 64 << 20

// reserveSlack lets the garbage collector wait for longer, until release is called.
// The heap may grow to twice what lives in it, and this lives in it. It is never
// written to, so it has no memory of its own: a gateway takes 64 MB more at most,
// and one with a large heap is collected as ever. A percentage would take the more
// the larger the heap is. Whoever has set how Go collects knows better.
func reserveSlack() (release func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	slack := make([]byte, slackSize)
	return func() { runtime.KeepAlive(slack) }
}
