package main

import (
	"math/rand/v2"
	"time"
)

// below returns a random number from 0 to n-1.
func below(n int) int {
	return rand.IntN(n) //nolint:gosec // the numbers are no secrets
}

// within returns a random duration up to a limit.
func within(limit time.Duration) time.Duration {
	return time.Duration(below(int(limit)))
}

// oneOf returns a random word of the list.
func oneOf(words []string) string { return words[below(len(words))] }

// anywhere returns a random place to cut at. Small numbers are frequent, so that heads are cut as
// often as tails.
func anywhere() int {
	const root = 155 // of 24,000, which is more than most streams have
	f := below(root * 1000)
	return 1 + f/1000*f/1000
}
