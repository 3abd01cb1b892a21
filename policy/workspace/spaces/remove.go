package spaces

import (
	"context"
	"errors"
	"fmt"
)

// LossError refuses the removal of a workspace, because something in it is nowhere else.
type LossError struct {
	Space   Space
	Holding Holding
}

// Error implements error.
func (e *LossError) Error() string {
	keep := "copy what you need out of " + e.Space.Path()
	switch {
	case e.Holding.Commits > 0 && e.Space.Form == OwnWorktree:
		keep = fmt.Sprintf("commit all in %s, and keep it with `git -C %s branch NAME HEAD`", e.Space.Path(), e.Space.top())
	case e.Holding.Commits > 0:
		keep = fmt.Sprintf("commit all in %s, and keep it with `git -C %s fetch %s HEAD:NAME`", e.Space.Path(), e.Space.Source, e.Space.top())
	}
	return fmt.Sprintf("the workspace of the session %s has %s: %s, or discard the workspace", e.Space.Session, e.Holding, keep)
}

// Remove removes a workspace, and the branch of a worktree. If something in it is nowhere else, the
// error is a LossError, and nothing is removed unless discard is set. Nobody may use the workspace
// meanwhile. The removal of a workspace that is not there succeeds.
func (m *Maker) Remove(ctx context.Context, name string, discard bool) error {
	s, err := m.read(name)
	if errors.Is(err, ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	if h := s.Look(ctx); !discard && !h.Clean() {
		return &LossError{s, h}
	}
	s.Ready = false // so a killed process leaves a workspace that the next one removes
	if err := s.write(); err != nil {
		return fmt.Errorf("remove a workspace: %w", err)
	}
	return s.erase(ctx)
}

// erase removes a workspace, whatever is in it.
func (s Space) erase(ctx context.Context) error {
	if err := RemoveAll(s.top()); err != nil {
		return fmt.Errorf("remove a workspace: %w", err)
	}
	if s.Form == OwnWorktree {
		// Either may be missing, after a kill or by somebody's hand, and so may the repository. What
		// stays of them holds no files.
		_, _ = git(ctx, s.Source, nil, "worktree", "remove", "--force", "--force", s.top())
		_, _ = git(ctx, s.Source, nil, "branch", "--quiet", "-D", s.branch())
	}
	if err := RemoveAll(s.home()); err != nil {
		return fmt.Errorf("remove a workspace: %w", err)
	}
	return nil
}
