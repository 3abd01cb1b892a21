package agenttest

import (
	"os"
	"strconv"
	"testing"
)

// Rounds is how often a test plays accidents at random moments: as usual, or as often as
// the environment variable TRIBUTARY_TEST_ROUNDS says.
func Rounds(tb testing.TB, usual int) int {
	tb.Helper()
	given := os.Getenv("TRIBUTARY_TEST_ROUNDS")
	if given == "" {
		return usual
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < 1 {
		tb.Fatalf("TRIBUTARY_TEST_ROUNDS is %q: give a number above 0", given)
	}
	return n
}
