package sqllog

import (
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks the file for this process, until it is closed or the process
// ends. It locks a byte far behind the text, so that others can read who it is.
func tryLock(f *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{Offset: 1 << 30})
	if err == windows.ERROR_LOCK_VIOLATION { //nolint:errorlint // the system call returns it bare
		return false, nil
	}
	return err == nil, err
}

// unlock does nothing: no other process has the file open, and closing it ends the lock.
func unlock(*os.File) {}
