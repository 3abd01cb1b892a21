package sqllog_test

import (
	"errors"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/trace"
)

// A deletion that a kill cuts short leaves no session with an empty history: as soon as one
// record is gone, so is the session.
func TestADeletionIsWholeOrHasNotBegun(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		s := open(t, o)
		var events []trace.Event
		for range 3000 {
			events = append(events, ends("p", "text"))
		}
		if err := s.Put(t.Context(), eventlog.Entry{Session: "s", Doc: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
		add(t, s, events...)
		deleted := make(chan error, 1)
		go func() { deleted <- s.Delete(t.Context(), "s") }()
		for len(read(t, s, 0)) > 0 {
			time.Sleep(time.Millisecond)
		}
		if _, err := s.Get(t.Context(), "s"); !errors.Is(err, eventlog.ErrNoSession) {
			t.Errorf("the session without records is there: %v", err)
		}
		if err := <-deleted; err != nil {
			t.Error(err)
		}
	})
}
