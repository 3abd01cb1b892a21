//go:build unix

package workspace

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipe hangs, and so fails, where a pipe is waited for.
func TestPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644))
	d, err := Open(dir)
	must(t, err)
	defer d.Close()
	if data, _, err := d.ReadFile("pipe"); err == nil {
		t.Errorf("ReadFile: %q", data)
	}
	if err := d.WriteFile("pipe", []byte("x")); err == nil {
		t.Error("WriteFile succeeded")
	}
	if _, err := d.List("pipe"); err == nil {
		t.Error("List succeeded")
	}
}
