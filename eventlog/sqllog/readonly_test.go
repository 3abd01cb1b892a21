//go:build !linux

package sqllog_test

import (
	"os"
	"testing"
)

// readOnly keeps everybody from writing a file until the test ends.
func readOnly(t *testing.T, name string) {
	t.Helper()
	if os.Getuid() == 0 {
		t.Skip("root may write every file")
	}
	if err := os.Chmod(name, 0o400); err != nil {
		t.Fatal(err)
	}
}
