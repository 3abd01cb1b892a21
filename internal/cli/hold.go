//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tributary-dev/tributary/eventlog"
)

// holdDir locks a data directory for this process. The caller needs holdDir if the log
// lies elsewhere and locks nothing here.
func holdDir(dir string) (release func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, &eventlog.HeldError{What: "the data directory " + dir, Holder: "another process"}
	}
	return func() { _ = f.Close() }, nil
}
