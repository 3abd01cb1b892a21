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

// tryFolder locks a directory for this process. A file system that cannot lock directories,
// such as NFS, gives neither a lock nor an error.
func tryFolder(dir string) (*os.File, bool, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	ok, err := tryLock(f)
	if ok {
		return f, true, nil
	}
	_ = f.Close()
	return nil, err != nil, nil
}
