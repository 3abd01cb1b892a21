package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// A stream may call a message by the agent's own id of what it did there, and a
// client knows that name only. The meaning of a native id is read from the log, the
// newest turns first: as many as a page of history shows, up to a bound on their
// records.
const (
	nativeTurns   = 100
	nativeRecords = 50_000
)

// ours returns the gateway's own id of a message. An unknown id stays as it is.
func (l *live) ours(ctx context.Context, id string) (string, error) {
	l.mu.Lock()
	known := id == "" || l.branch.find(id) >= 0
	turns := l.branch.turns()
	l.mu.Unlock()
	if known {
		return id, nil
	}
	left := nativeRecords
	for _, s := range slices.Backward(turns[max(0, len(turns)-nativeTurns):]) {
		names, err := l.isNative(ctx, s, id, &left)
		if err != nil {
			return "", err
		}
		if names {
			return l.firstAnswerOf(s.turn, id), nil
		}
	}
	return id, nil
}

// isNative reports whether the first thing that the agent named in a turn has this id.
func (l *live) isNative(ctx context.Context, s stretch, id string, left *int) (bool, error) {
	for r, err := range l.hub.Log.Wholes(ctx, l.id, s.after, 0) {
		if err != nil {
			return false, fmt.Errorf("read the log of session %q: %w", l.id, err)
		}
		if *left--; *left < 0 {
			return false, nil
		}
		if r.Turn != s.turn {
			continue
		}
		if p, is := r.Payload.(trace.Step); is && p.NativeID != "" {
			return p.NativeID == id, nil
		}
		if _, over := r.Payload.(trace.Stop); over {
			return false, nil
		}
	}
	return false, nil
}

// firstAnswerOf is the first assistant message of a turn, else the other id.
func (l *live) firstAnswerOf(turn, otherwise string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.branch.messages {
		if m.turn == turn && !m.user {
			return m.id
		}
	}
	return otherwise
}
