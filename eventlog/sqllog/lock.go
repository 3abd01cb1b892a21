package sqllog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

const lockFile = "lock"

// lockDir makes the data directory and takes it for this process. The server
// itself would let two processes write the same files.
func lockDir(dir string) (dirLock, error) {
	const private, privateFile = 0o700, 0o600
	if err := os.MkdirAll(dir, private); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, privateFile)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the data directory: %w", err)
	}
	lock := dirLock{f}
	ok, err := waitLock(f)
	if err == nil && ok {
		var folder *os.File
		if folder, err = os.Open(dir); err == nil {
			lock = append(lock, folder)
			free, failed := waitLock(folder)
			ok = free || failed != nil // Windows and file systems such as NFS cannot lock directories
		}
	}
	if err == nil && !ok {
		err = &eventlog.HeldError{What: "the data directory " + dir, Holder: holder(f)}
	} else if err != nil {
		err = fmt.Errorf("lock the data directory %s: %w", dir, err)
	} else {
		err = writeHolder(f)
	}
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	return lock, nil
}

// dirLock is the lock file, which says who holds the directory, and the directory itself,
// which stays locked when somebody deletes the file.
type dirLock []*os.File

// Close unlocks the directory.
func (l dirLock) Close() error {
	var all []error
	for _, f := range l {
		unlock(f)
		all = append(all, f.Close())
	}
	return errors.Join(all...)
}

// lockWithin is how long a lock is waited for that somebody holds. A process that
// was just killed may have a child that is between its birth and its own program
// and holds the lock for that moment.
const lockWithin = time.Second

func waitLock(f *os.File) (ok bool, err error) {
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if ok, err = tryLock(f); ok || err != nil || time.Since(began) > lockWithin {
			return ok, err
		}
	}
}

// writeHolder writes who holds the directory.
func writeHolder(f *os.File) error {
	err := f.Truncate(0)
	if err == nil {
		_, err = fmt.Fprintf(f, "process %d (started %s)\n", os.Getpid(), time.Now().Format(time.RFC3339))
	}
	if err != nil {
		return fmt.Errorf("write the lock of the data directory: %w", err)
	}
	return nil
}

func holder(f *os.File) string {
	const enough = 200
	text := make([]byte, enough)
	n, _ := f.ReadAt(text, 0) // an end of file is expected
	if who := strings.TrimSpace(string(text[:n])); who != "" {
		return who
	}
	return "another process"
}
