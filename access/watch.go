package access

import (
	"context"
	"sync"
	"time"
)

// checkEvery is how long a request may go on after its credential was revoked.
const checkEvery = 5 * time.Second

// watch ends the context of a request when its credential counts no more. The caller
// calls the returned function at the end of the request.
func watch(ctx context.Context, still func(context.Context) bool, cause error) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watcher{}
	w.check = func() {
		if !still(ctx) {
			cancel(cause)
			return
		}
		w.again()
	}
	w.again()
	return ctx, func() {
		w.end()
		cancel(nil)
		w.checking.Wait()
	}
}

// watcher has a goroutine only while it checks.
type watcher struct {
	check    func()
	checking sync.WaitGroup

	mu    sync.Mutex
	timer *time.Timer
	over  bool
}

func (w *watcher) again() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	w.timer = time.AfterFunc(checkEvery, func() {
		w.mu.Lock()
		over := w.over
		if !over {
			w.checking.Add(1)
		}
		w.mu.Unlock()
		if over {
			return
		}
		defer w.checking.Done()
		w.check()
	})
}

func (w *watcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
}
