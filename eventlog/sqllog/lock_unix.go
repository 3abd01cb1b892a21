//go:build unix

package sqllog

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks the file for this process, until unlock or the end of the process.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK { //nolint:errorlint // the system call returns it bare
		return false, nil
	}
	return err == nil, err
}

// unlock ends the lock of a file that is to be closed. Closing alone would not do: a process that is
// just being started has the file open, too, until it runs its own program.
func unlock(f *os.File) {
	_ = unix.Flock(int(f.Fd()), unix.LOCK_UN) // if it fails, closing ends the lock
}
