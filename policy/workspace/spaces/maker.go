package spaces

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// makeWithin bounds how long it may take to make a workspace.
const makeWithin = 10 * time.Minute

// Maker makes the workspaces of sessions in one directory, each in a directory of its own with a
// note beside it. The note says whether the workspace is ready, so what a killed process leaves is
// known by its note: Make begins such a workspace anew. Several processes may use one directory,
// if no two of them make or remove the workspace of the same session at a time.
type Maker struct{ dir string }

// Dir is the directory of all workspaces, without symbolic links.
func (m *Maker) Dir() string { return m.dir }

// Open makes the directory, with mode 0700. It removes workspaces that an earlier process did not
// finish, unless a process of now could still be making them.
func Open(ctx context.Context, dir string) (*Maker, error) {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("the directory for workspaces cannot be used: %w", err)
	}
	m := &Maker{dir: dir}
	all, err := m.List()
	for _, s := range all {
		if info, err := os.Stat(filepath.Join(s.home(), noteName)); err == nil && !s.Ready && time.Since(info.ModTime()) > makeWithin {
			_ = s.erase(ctx) // else the list shows it
		}
	}
	return m, err
}

// Wanted says which workspace a session needs. Source is the agent's directory.
type Wanted struct {
	Name, Session, Agent string
	Form                 Form
	Source               string
}

// Make makes a workspace, and returns the one that is ready already.
func (m *Maker) Make(ctx context.Context, w Wanted) (s Space, err error) {
	ctx, cancel := context.WithTimeout(ctx, makeWithin)
	defer cancel()
	if !isName(w.Name) {
		return s, fmt.Errorf("%q is no name of a workspace", w.Name)
	}
	old, err := m.read(w.Name)
	switch {
	case err == nil && old.Ready:
		return m.Find(w.Name)
	case err == nil:
		err = old.erase(ctx)
	case errors.Is(err, ErrGone):
		err = nil
	}
	if err != nil {
		return s, err
	}
	s = Space{Name: w.Name, Session: w.Session, Agent: w.Agent, Form: w.Form, Made: time.Now().UTC(), dir: m.dir}
	if s.Source, err = filepath.EvalSymlinks(w.Source); err != nil {
		return s, fmt.Errorf("the agent's directory cannot be used: %w", err)
	}
	var repo repository
	switch w.Form {
	case OwnWorktree:
		repo, err = s.plan(ctx)
	case OwnCopy:
		s.Top = topName(s.Source)
	default:
		err = fmt.Errorf("%q is no form of a workspace of its own: write %s or %s", w.Form, OwnCopy, OwnWorktree)
	}
	if err != nil {
		return s, err
	}
	if err = os.MkdirAll(s.home(), 0o700); err == nil {
		err = s.write()
	}
	if err == nil && w.Form == OwnCopy {
		err = s.copySource(ctx)
	} else if err == nil {
		err = s.addWorktree(ctx, repo)
	}
	if err == nil {
		s.Ready = true
		err = s.write()
	}
	if err != nil {
		s.Ready = false
		return s, errors.Join(fmt.Errorf("the workspace of the session cannot be made: %w", err), s.erase(context.WithoutCancel(ctx)))
	}
	return m.Find(s.Name)
}

// topName is the name of the directory in a workspace: that of the agent's directory, by which
// agents and people know the project.
func topName(source string) string {
	if name := filepath.Base(source); filepath.IsLocal(name) && name != "." && name != noteName {
		return name
	}
	return "workspace"
}

// copySource copies the agent's directory. A copy whose repository lies elsewhere would share it.
func (s Space) copySource(ctx context.Context) error {
	if err := Copy(ctx, s.Source, s.top()); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(s.top(), ".git")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	_, err := s.repositoryIn(ctx)
	if errors.Is(err, errNoGit) {
		return nil
	}
	return err
}

// repositoryIn finds the repository of a copy, which is in the copy.
func (s Space) repositoryIn(ctx context.Context) (repository, error) {
	repo, err := repositoryAt(ctx, s.top())
	if err != nil {
		return repo, err
	}
	if inside, err := isInside(repo.common, s.top()); err != nil || !inside {
		return repo, fmt.Errorf("the git repository of %s is in another directory, which its copy would change: set workspace: worktree", s.Source)
	}
	return repo, nil
}

// plan finds the repository of the agent's directory, and where the agent works in it.
func (s *Space) plan(ctx context.Context) (repository, error) {
	repo, below, err := repositoryOf(ctx, s.Source)
	switch {
	case errors.Is(err, errNoGit), ctx.Err() != nil:
		return repo, err
	case err != nil:
		return repo, fmt.Errorf("the agent's directory %s is not in a work tree of git, which workspace: worktree needs: make it a repository, or set workspace: copy (%w)", s.Source, err)
	}
	s.Top, s.Below = topName(repo.top), below
	if s.Base, err = git(ctx, s.Source, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return repo, fmt.Errorf("the repository of %s has no commit that a worktree could begin at: commit something, or set workspace: copy", s.Source)
	}
	return repo, nil
}

// addWorktree makes the worktree on a branch of its own, so that its commits stay in the
// repository when somebody removes the directory by hand. The files come by a call that runs no
// filters.
func (s Space) addWorktree(ctx context.Context, source repository) error {
	add := func() error {
		_, err := git(ctx, source.top, nil, "worktree", "add", "--no-checkout", "-b", s.branch(), s.top(), s.Base)
		return err
	}
	err := add()
	for pause := 50 * time.Millisecond; err != nil && ctx.Err() == nil && pause < time.Second; pause *= 2 {
		// A git that a killed process has left at work may have made the same. A branch with commits stays.
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		_, _ = git(ctx, source.top, nil, "worktree", "remove", "--force", "--force", s.top())
		_, _ = git(ctx, source.top, nil, "branch", "--quiet", "-d", s.branch())
		err = add()
	}
	if err != nil {
		return err
	}
	repo, err := repositoryAt(ctx, s.top())
	if err != nil {
		return err
	}
	if _, err := repo.worktree(ctx, s.Base, "read-tree", "--reset", "-u", s.Base); err != nil {
		return err
	}
	if info, err := os.Stat(s.Path()); err != nil || !info.IsDir() {
		return fmt.Errorf("the newest commit has no directory %s, in which the agent works: commit it, or set workspace: copy", s.Below)
	}
	return nil
}

// worktreeOf finds the repository of a worktree, from the worktree and from the agent's directory.
func (s Space) worktreeOf(ctx context.Context) (here, source repository, err error) {
	if here, err = repositoryAt(ctx, s.top()); err != nil {
		return here, source, err
	}
	if source, _, err = repositoryOf(ctx, s.Source); err != nil {
		return here, source, err
	}
	if same, err := isInside(here.common, source.common); err != nil || !same {
		return here, source, fmt.Errorf("%s is no worktree of the repository of %s", s.top(), s.Source)
	}
	return here, source, nil
}

// Find finds a workspace that is ready. If it is not there, the error is ErrGone.
func (m *Maker) Find(name string) (s Space, err error) {
	if s, err = m.read(name); err != nil {
		return s, err
	}
	info, err := os.Lstat(s.top())
	if inside, wrong := isInside(s.Path(), s.home()); err != nil || wrong != nil || !info.IsDir() || !inside || !s.Ready {
		return s, fmt.Errorf("%w (%s)", ErrGone, s.Path())
	}
	return s, nil
}

// Paths are all that a program in the workspace has to reach: the directory of the workspace, and
// for a worktree the directory of the repository, in which git keeps commits and the worktree's index.
func (s Space) Paths(ctx context.Context) ([]string, error) {
	if s.Form != OwnWorktree {
		return []string{s.top()}, nil
	}
	_, repo, err := s.worktreeOf(ctx)
	if err != nil {
		return nil, fmt.Errorf("the session cannot go on in its worktree %s: %w", s.top(), err)
	}
	return []string{s.top(), repo.common}, nil
}

// List lists all workspaces, by their names. It leaves out what has no note.
func (m *Maker) List() (all []Space, err error) {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return nil, fmt.Errorf("list the workspaces: %w", err)
	}
	for _, e := range entries {
		if s, err := m.read(e.Name()); err == nil {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b Space) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}
