//go:build unix

package sqllog

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks the file for this process, until it is closed or the process ends.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK { //nolint:errorlint // the system call returns it bare
		return false, nil
	}
	return err == nil, err
}
