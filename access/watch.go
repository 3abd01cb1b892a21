package access

import (
	"context"
	"sync"
	"time"
)

// checkEvery is the longest time for which a request goes on after its credential was
// revoked.
const checkEvery = 5 * time.Second

type stillKey struct{}

// Counts reports whether the credential of a request still counts. A connection that outlives
// one frame asks before each, because the context of the request ends only seconds later.
func Counts(ctx context.Context) bool {
	still, ok := ctx.Value(stillKey{}).(func(context.Context) bool)
	return !ok || still(ctx)
}

// Watch checks at intervals whether a request may go on. An error of check ends the returned
// context, as its cause. The caller calls leave at the end of the request.
func Watch(ctx context.Context, every time.Duration, check func(context.Context) error) (_ context.Context, leave func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watcher{every: every}
	w.check = func() {
		if err := check(ctx); err != nil {
			cancel(err)
			return
		}
		w.schedule()
	}
	w.schedule()
	return ctx, func() {
		w.end()
		cancel(nil)
		w.checking.Wait()
	}
}

// watcher has a goroutine only while it checks.
type watcher struct {
	every    time.Duration
	check    func()
	checking sync.WaitGroup

	mu    sync.Mutex
	timer *time.Timer
	over  bool
}

// schedule plans the next check.
func (w *watcher) schedule() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	w.timer = time.AfterFunc(w.every, func() {
		if w.begin() {
			defer w.checking.Done()
			w.check()
		}
	})
}

// begin reports whether a check is still needed, and counts the check.
func (w *watcher) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.checking.Add(1)
	}
	return !w.over
}

func (w *watcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
}
