//go:build unix

package cli

import "syscall"

// openFiles is how many files this process may open, if the system has such a bound.
func openFiles() (uint64, bool) {
	var files syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files)
	return files.Cur, err == nil
}
