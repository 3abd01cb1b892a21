// Package readers_test gives what Tributary exports to programs that others wrote, and asks them
// what they have read. make readers installs the programs and runs the tests.
package readers_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// reader is the Python in whose environment a program is installed.
func reader(t *testing.T, name string) (python string) {
	t.Helper()
	dir := os.Getenv("TRIBUTARY_TEST_READERS")
	if dir == "" {
		t.Skip("make readers installs the programs that read exports, and runs this test")
	}
	return filepath.Join(dir, name, "bin", "python")
}

// run runs a program that must succeed, and returns what it prints.
func run(t *testing.T, program string, args ...string) []byte {
	t.Helper()
	var out, wrong bytes.Buffer
	c := exec.CommandContext(t.Context(), program, args...)
	c.Stdout, c.Stderr = &out, &wrong
	if err := c.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s\n%s", filepath.Base(program), args[0], err, out.Bytes(), wrong.Bytes())
	}
	return out.Bytes()
}
