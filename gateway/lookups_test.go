package gateway_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/trace"
)

// askedStore is a store that notes what is asked of it until its first commit.
type askedStore struct {
	eventlog.Store
	mu        *sync.Mutex
	calls     *[]string
	committed *bool
}

func (s askedStore) note(call string, commits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !*s.committed {
		*s.calls = append(*s.calls, call)
	}
	*s.committed = *s.committed || commits
}

func (s askedStore) Get(ctx context.Context, id string) ([]byte, error) {
	s.note("Get", false)
	return s.Store.Get(ctx, id)
}

func (s askedStore) Last(ctx context.Context, id string) (uint64, error) {
	s.note("Last", false)
	return s.Store.Last(ctx, id)
}

func (s askedStore) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	s.note("AppendWith", true)
	return s.Store.AppendWith(ctx, e, turn, events)
}

// The first byte of a new session waits for as few calls of the log as possible: the sender's access, where
// the session's numbers begin, and one commit.
func TestANewSessionAsksTheLogOnceForEachThing(t *testing.T) {
	t.Parallel()
	s := askedStore{memlog.New(), &sync.Mutex{}, &[]string{}, new(bool)}
	stand := newStandOn(t, s, nil)
	s.mu.Lock()
	*s.calls = nil
	s.mu.Unlock()
	if status, _, body := stand.do("POST", "/api/chat", submit("new", "u1", "hello")); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := *s.calls; !slices.Equal(got, []string{"Get", "Last", "AppendWith"}) {
		t.Errorf("before its first byte a new session asks the log for %v", got)
	}
}
