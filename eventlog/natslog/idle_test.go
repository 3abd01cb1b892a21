package natslog

import (
	"testing"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// The places of a session that nobody uses for a while are forgotten, and looked up
// again; those of one that is in use stay.
func TestPlacesThatNobodyUsesAreForgotten(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	event := trace.Event{ID: "e", Time: time.Unix(1, 0).UTC(), Actor: trace.Agent, Payload: trace.Message{Part: "p", Role: trace.RoleAssistant, Text: "hello"}}
	for _, id := range []string{"used", "left"} {
		if _, err := s.Append(t.Context(), id, "t", []trace.Event{event}); err != nil {
			t.Fatal(err)
		}
	}
	used, err := s.acquire(t.Context(), "used")
	if err != nil {
		t.Fatal(err)
	}
	defer s.release(used)
	s.evictIdle(time.Now().Add(defaultIdle / 2))
	if n := s.recent.Len(); n != 2 {
		t.Errorf("%d sessions are known after half the time", n)
	}
	s.evictIdle(time.Now().Add(2 * defaultIdle))
	if n := s.recent.Len(); n != 1 || s.sessions["left"] != nil {
		t.Errorf("%d sessions are known after twice the time", n)
	}
	if last, err := s.Last(t.Context(), "left"); err != nil || last != 1 {
		t.Errorf("the one that was forgotten ends with %d, %v", last, err)
	}
}
