//go:build unix

package run

import (
	"errors"
	"os"
	"syscall"
)

// locks says that lock keeps other processes away.
const locks = true

// lock locks a file for this process, until it is closed or the process ends.
func lock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err //nolint:wrapcheck // the caller's sentence says what for
}
