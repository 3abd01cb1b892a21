package agenttest

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// roundsVariable says how often tests play accidents, and makes them play the dear ones.
const roundsVariable = "TRIBUTARY_TEST_ROUNDS"

// HugeText is what an agent may say at the prompt Huge: 5 MB, and 50 MB where the environment
// variable TRIBUTARY_TEST_ROUNDS is set. The race detector takes 20 seconds for 50 MB.
func HugeText() string {
	size := 5 << 20
	if os.Getenv(roundsVariable) != "" {
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
