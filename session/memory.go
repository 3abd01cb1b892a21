package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/tributary-dev/tributary/session/thread"
	"github.com/tributary-dev/tributary/trace"
)

// This file gives an agent the history of its session, and a directory.

// History implements agent.Host.
func (h host) History(ctx context.Context) iter.Seq2[trace.Record, error] {
	l := h.session
	return func(yield func(trace.Record, error) bool) {
		if err := l.loadThread(ctx); err != nil {
			yield(trace.Record{}, err)
			return
		}
		l.mu.Lock()
		turns := slices.DeleteFunc(l.thread.Spans(), func(s thread.Span) bool { return l.turns[s.Turn] != nil })
		l.mu.Unlock()
		for r, err := range l.pageOf(ctx, turns) {
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// State implements agent.Host.
func (h host) State() (string, error) {
	dir := h.session.stateDir()
	if dir == "" {
		return "", errors.New("this gateway has no data directory, so an agent cannot keep state: start it with --data")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the agent's state directory: %w", err)
	}
	return dir, nil
}

// stateDir is the directory of the session's agent, whether it exists or not. Its
// name is a hash, because a session id may hold any character.
func (l *activeSession) stateDir() string {
	if l.hub.StateDir == "" {
		return ""
	}
	name := sha256.Sum256([]byte(l.id))
	return filepath.Join(l.hub.StateDir, "agents", hex.EncodeToString(name[:]))
}

// removeState removes the agent's files of this session, or those that a deleted session of
// the same id has left.
func (l *activeSession) removeState() error {
	if err := os.RemoveAll(l.stateDir()); err != nil { // with no directory there is nothing to remove
		return fmt.Errorf("remove the agent's state of session %q: %w", l.id, err)
	}
	return nil
}
