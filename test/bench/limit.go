package main

import (
	"fmt"
	"syscall"
)

// filesNeeded is for the client's connections, and as many again to spare.
const filesNeeded = 4096

// raiseFileLimit lets this process, and those that it starts, have as many files
// open as needed.
func raiseFileLimit(needed uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read how many files may be open: %w", err)
	}
	if limit.Cur >= needed {
		return nil
	}
	if limit.Max < needed {
		return fmt.Errorf("only %d files may be open at once and %d are needed: raise the hard limit (ulimit -Hn) and start again", limit.Max, needed)
	}
	limit.Cur = needed
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("raise the limit of open files to %d: %w", needed, err)
	}
	return nil
}
