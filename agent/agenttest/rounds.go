package agenttest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The environment variables of long tests: how often tests play accidents, and whether they play
// all that they can.
const (
	roundsVariable = "TRIBUTARY_TEST_ROUNDS"
	fullVariable   = "TRIBUTARY_TEST_FULL"
)

// Full reports whether tests play all rounds and the largest sizes, because the environment
// variable TRIBUTARY_TEST_FULL is 1. Otherwise they play a tenth, which finds the same kinds of
// faults.
func Full() bool { return os.Getenv(fullVariable) == "1" }

// HugeText is what an agent may say at the prompt Huge: 5 MB, and 50 MB if the test is [Full], or
// if the environment variable TRIBUTARY_TEST_ROUNDS is set. The race detector takes 20 seconds
// for 50 MB.
func HugeText() string {
	size := 5 << 20
	if Full() || os.Getenv(roundsVariable) != "" {
		size = 50 << 20
	}
	return strings.Repeat("x", size)
}

// Rounds is how often a test plays accidents at random moments: as usual, or as often as
// the environment variable TRIBUTARY_TEST_ROUNDS says.
func Rounds(tb testing.TB, usual int) int {
	tb.Helper()
	given := os.Getenv(roundsVariable)
	if given == "" {
		return usual
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < 1 {
		tb.Fatalf("%s is %q: give a number above 0", roundsVariable, given)
	}
	return n
}

// seedVariable is the seed of random tests.
const seedVariable = "TRIBUTARY_TEST_SEED"

// Random is a source of random numbers for a test. A test that fails prints its seed. The
// environment variable TRIBUTARY_TEST_SEED gives the seed again.
func Random(tb testing.TB) *rand.Rand {
	tb.Helper()
	seed := rand.Uint64() //nolint:gosec // no secret
	if given := os.Getenv(seedVariable); given != "" {
		n, err := strconv.ParseUint(given, 10, 64)
		if err != nil {
			tb.Fatalf("%s is %q: give the number that a test has printed", seedVariable, given)
		}
		seed = n
	}
	tb.Logf("%s=%d plays the same random numbers again", seedVariable, seed)
	return rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // no secret
}
