// Package installed has the rule for tests that need a program which may be missing. The test is
// skipped with a sentence. On a CI machine, which installs all programs, the test fails.
package installed

import (
	"os"
	"testing"
)

// Needed skips the test, or fails it on a CI machine, unless what the test needs is there.
func Needed(tb testing.TB, there bool, sentence string) {
	tb.Helper()
	switch {
	case there:
	case os.Getenv("CI") != "":
		tb.Fatal(sentence)
	default:
		tb.Skip(sentence)
	}
}
