package agenttest

import (
	"context"
	"slices"
	"sync"

	"github.com/tributary-dev/tributary/trace"
)

// Recorder is a Builder whose events are kept. They arrive as they do in a log,
// a moment after the call; after Finish all are there.
type Recorder struct {
	*trace.Builder
	feed   *feed
	cfg    trace.Config
	events []trace.Event // guarded by feed.mu
}

// NewRecorder returns a Recorder for one turn. The options may change the
// Builder's configuration, but for Append.
func NewRecorder(options ...func(*trace.Config)) *Recorder {
	return newRecorder(newFeed(), options...)
}

func newRecorder(f *feed, options ...func(*trace.Config)) *Recorder {
	r := &Recorder{feed: f}
	cfg := trace.Config{Turn: "turn"}
	for _, option := range options {
		option(&cfg)
	}
	cfg.Append = func(_ context.Context, events []trace.Event) error {
		f.update(func() { r.events = append(r.events, events...) })
		return nil
	}
	r.cfg = cfg
	r.Builder = trace.NewBuilder(context.Background(), cfg)
	return r
}

// reopenRecorder is newRecorder for a turn that has events on record.
func reopenRecorder(f *feed, events []trace.Event, option func(*trace.Config)) *Recorder {
	r := newRecorder(f, option)
	r.events = slices.Clone(events)
	records := make([]trace.Record, len(events))
	for i, e := range events {
		records[i] = trace.Record{Event: e}
	}
	r.Builder = trace.Restore(context.Background(), r.cfg, records)
	return r
}

// Events returns what has been emitted.
func (r *Recorder) Events() []trace.Event {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	return slices.Clone(r.events)
}

// Await returns the first event that matches, and waits for it until ctx ends.
func (r *Recorder) Await(ctx context.Context, match func(trace.Event) bool) (found trace.Event, err error) {
	err = r.feed.until(ctx, func() bool {
		i := slices.IndexFunc(r.events, match)
		if i >= 0 {
			found = r.events[i]
		}
		return i >= 0
	})
	return found, err
}

// feed wakes the goroutines that wait for events.
type feed struct {
	mu      sync.Mutex
	changed chan struct{}
}

func newFeed() *feed { return &feed{changed: make(chan struct{})} }

func (f *feed) update(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	close(f.changed)
	f.changed = make(chan struct{})
}

// until waits until a condition, which is evaluated under the lock, holds.
func (f *feed) until(ctx context.Context, holds func() bool) error {
	for {
		f.mu.Lock()
		done, changed := holds(), f.changed
		f.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
