//go:build unix

package realagent

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// lockPoll is how often a lock that another holds is tried again.
const lockPoll = 100 * time.Millisecond

// lock waits for the lock of a file. The kernel frees it when its holder dies.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = f.Close()
			return nil, err
		}
		select {
		case <-time.After(lockPoll):
		case <-ctx.Done():
			_ = f.Close()
			return nil, context.Cause(ctx)
		}
	}
}
