package main

import (
	"math/rand/v2"
	"time"
)

// randomBelow returns a random number from 0 to n-1.
func randomBelow(n int) int {
	return rand.IntN(n) //nolint:gosec // the numbers are no secrets
}

// randomDuration returns a random duration up to a limit.
func randomDuration(limit time.Duration) time.Duration {
	return time.Duration(randomBelow(int(limit)))
}

// randomOf returns a random word of the list.
func randomOf(words []string) string { return words[randomBelow(len(words))] }

// randomCut returns a random place to cut at. Small numbers are frequent, so that heads are cut as
// often as tails.
func randomCut() int {
	const root = 155 // of 24,000, which is more than most streams have
	f := randomBelow(root * 1000)
	return 1 + f/1000*f/1000
}
