package session

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tributary-dev/tributary/trace"
)

// naming sees to it that an agent's own name of what it does is that of one turn: a
// client may call a message by it. A name that an agent uses again, because the agent
// has forgotten it or because its turn was given up here, gets a number.
type naming struct {
	mu    sync.Mutex // taken before live.mu
	known bool       // what is on record was read
	turns map[string]string
	order []string // the names, oldest first
}

// mostNames bounds how many names are kept in memory.
const mostNames = 10_000

// nameSteps returns the events of a turn with names that no other turn has.
func (l *live) nameSteps(ctx context.Context, turn string, events []trace.Event) ([]trace.Event, error) {
	names := func(e trace.Event) bool { s, is := e.Payload.(trace.Step); return is && s.NativeID != "" }
	if !slices.ContainsFunc(events, names) {
		return events, nil
	}
	n := &l.names
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := l.readNames(ctx); err != nil {
		return nil, err
	}
	events = slices.Clone(events)
	for i, e := range events {
		if s, is := e.Payload.(trace.Step); is && s.NativeID != "" {
			s.NativeID = n.give(turn, s.NativeID)
			events[i].Payload = s
		}
	}
	return events, nil
}

// give finds a name for a turn.
func (n *naming) give(turn, name string) string {
	given := name
	for again := 2; n.turns[given] != "" && n.turns[given] != turn; again++ {
		given = fmt.Sprintf("%s~%d", name, again)
	}
	n.note(turn, given)
	return given
}

// ownName is an agent's own name of what has another on record, see give.
func ownName(given string) string {
	name, again, numbered := strings.Cut(given, "~")
	if _, err := strconv.ParseUint(again, 10, 64); numbered && err == nil {
		return name
	}
	return given
}

func (n *naming) note(turn, name string) {
	if n.turns == nil {
		n.turns = map[string]string{}
	}
	if n.turns[name] != "" {
		return
	}
	if len(n.order) == mostNames {
		delete(n.turns, n.order[0])
		n.order = slices.Delete(n.order, 0, 1)
	}
	n.turns[name] = turn
	n.order = append(n.order, name)
}

// readNames reads the names that turns have on record, as far back as the
// function ours looks for a name. The caller holds names.mu.
func (l *live) readNames(ctx context.Context) error {
	if l.names.known {
		return nil
	}
	if err := l.loadBranch(ctx); err != nil {
		return err
	}
	last, err := l.hub.Log.Last(ctx, l.id)
	if err != nil {
		return fmt.Errorf("read the log of session %q: %w", l.id, err)
	}
	l.mu.Lock()
	turns := l.branch.turns()
	l.mu.Unlock()
	after := last
	for _, s := range turns[max(0, len(turns)-nativeTurns):] {
		if s.after+nativeRecords >= last {
			after = min(after, s.after)
		}
	}
	for r, err := range l.hub.Log.Wholes(ctx, l.id, after, 0) {
		if err != nil {
			return fmt.Errorf("read the log of session %q: %w", l.id, err)
		}
		if s, is := r.Payload.(trace.Step); is && s.NativeID != "" {
			l.names.note(r.Turn, s.NativeID)
		}
	}
	l.names.known = true
	return nil
}
