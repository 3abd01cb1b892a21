//go:build unix

package run

import (
	"errors"
	"os"
	"syscall"
)

// locks says that lock keeps other processes away.
const locks = true

// lock locks a file for this process, until unlock or the end of the process.
func lock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err //nolint:wrapcheck // the caller's sentence says what for
}

// unlock ends the lock of a file that is to be closed. Closing alone would not do: a process that is
// just being started has the file open, too, until it runs its own program.
func unlock(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // if it fails, closing ends the lock
}
