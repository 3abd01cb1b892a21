package main

import (
	"math/rand/v2"
	"time"
)

// below is a number from 0 to n-1, to choose and to vary by.
func below(n int) int {
	return rand.IntN(n) //nolint:gosec // nothing here is to be kept secret
}

// within is a moment from now up to a while.
func within(while time.Duration) time.Duration {
	return time.Duration(below(int(while)))
}

// oneOf is any of them.
func oneOf(words []string) string { return words[below(len(words))] }

// anywhere is a byte to cut at: small numbers often, so that heads are cut as
// well as tails.
func anywhere() int {
	const root = 155 // of 24,000, which is more than most streams have
	f := below(root * 1000)
	return 1 + f/1000*f/1000
}
