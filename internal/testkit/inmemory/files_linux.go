package inmemory

import (
	"os"
	"syscall"
)

// Files sets the directory of temporary files to one in memory, if that has room for the files of
// tests: containers often have 64 MB. For tests that make and delete thousands of files, for ext4
// takes long to find a place for a file after many were deleted. TestMain calls it.
func Files() {
	const memory, room = "/dev/shm", 2 << 30
	var of syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(memory, &of) != nil || of.Bavail*uint64(of.Bsize) < room { //nolint:gosec // a size is not negative
		return
	}
	if err := os.Setenv("TMPDIR", memory); err != nil {
		panic(err)
	}
}
