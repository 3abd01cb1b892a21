package openfiles

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// Share copies the descriptors that this process has of a file or a directory, until the test ends.
// A process that was just started has such copies, until it runs its own program.
func Share(t *testing.T, path string) {
	t.Helper()
	open, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	shared := 0
	for _, link := range open {
		to, err := os.Readlink(link)
		if err != nil || to != path {
			continue // the descriptor of the list itself is gone
		}
		fd, err := strconv.Atoi(filepath.Base(link))
		if err == nil {
			fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		}
		if err != nil {
			t.Fatal(fmt.Errorf("share %s: %w", path, err))
		}
		t.Cleanup(func() { _ = unix.Close(fd) })
		shared++
	}
	if shared == 0 {
		t.Fatalf("this process does not have %s open", path)
	}
}
