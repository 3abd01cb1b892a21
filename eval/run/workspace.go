package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/internal/procio"
	"github.com/tributary-dev/tributary/policy/workspace/spaces"
	"github.com/tributary-dev/tributary/trace"
)

const (
	// commandTime bounds a command of a case: one that prepares the workspace, or a grader.
	commandTime = 10 * time.Minute
	// parentName begins the names of directories that hold a workspace, and lockName is a file in them.
	parentName, lockName = "tributary-eval-", "lock"
	// maxJudgedFile bounds a file that a grader reads.
	maxJudgedFile = 16 << 20
)

// workspace is the directory in which the agent of a cell works, and a copy of how it was before.
type workspace struct {
	parent  string   // holds the two
	lock    *os.File // in the parent, of this process until the workspace is removed
	env     []string
	limit   time.Duration // of a command
	changes []eval.Change
}

// newWorkspace makes the workspace of a case below the system's directory for temporary files. So it
// lies in no other repository, whose files the agent could read as its own.
func newWorkspace(ctx context.Context, c *eval.Case, env []string, limit time.Duration) (w *workspace, err error) {
	source, err := Source(c)
	if err != nil {
		return nil, err
	}
	w = &workspace{env: env, limit: limit}
	if w.parent, err = os.MkdirTemp("", parentName); err != nil {
		return nil, fmt.Errorf("the workspace cannot be made: %w", err)
	}
	if err = w.hold(); err == nil {
		err = w.fill(ctx, c, source)
	}
	if err != nil {
		return nil, errors.Join(err, w.remove())
	}
	return w, nil
}

// hold locks a file in the parent. It has its name only when it is locked.
func (w *workspace) hold() (err error) {
	name := filepath.Join(w.parent, lockName)
	if w.lock, err = os.Create(name + ".new"); err == nil {
		if _, err = lock(w.lock); err == nil {
			err = os.Rename(name+".new", name)
		}
	}
	if err != nil {
		return fmt.Errorf("the workspace cannot be made: %w", err)
	}
	return nil
}

// removeDead removes the workspaces that processes have left which were killed: nobody holds their locks.
// What cannot be removed stays.
func removeDead() {
	entries, _ := os.ReadDir(os.TempDir()) // none: nothing is removed
	for _, e := range entries {
		dir := filepath.Join(os.TempDir(), e.Name())
		if !locks || !e.IsDir() || !strings.HasPrefix(e.Name(), parentName) {
			continue
		}
		if f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0); err == nil {
			if dead, err := lock(f); dead && err == nil {
				_ = spaces.RemoveAll(dir)
			}
			f.Close()
		}
	}
}

func (w *workspace) fill(ctx context.Context, c *eval.Case, source string) (err error) {
	if source == "" {
		err = os.Mkdir(w.dir(), 0o755) //nolint:gosec // as a directory of the user's
	} else {
		err = spaces.Copy(ctx, source, w.dir())
	}
	if err != nil {
		return fmt.Errorf("the workspace cannot be made: %w", err)
	}
	if c.Workspace != nil {
		for _, command := range c.Workspace.Setup {
			status, why, err := w.command(ctx, command)
			if err != nil || status != 0 {
				return fmt.Errorf("the workspace cannot be prepared: the command %q failed: %s", command, firstOf(err, why))
			}
		}
	}
	if err := spaces.Copy(ctx, w.dir(), w.before()); err != nil {
		return fmt.Errorf("the workspace cannot be made: %w", err)
	}
	return nil
}

func firstOf(err error, text string) string {
	if err != nil {
		return err.Error()
	}
	return text
}

func (w *workspace) dir() string    { return filepath.Join(w.parent, "workspace") }
func (w *workspace) before() string { return filepath.Join(w.parent, "before") }
func (w *workspace) remove() error {
	defer w.lock.Close()              // also if there is none
	return spaces.RemoveAll(w.parent) //nolint:wrapcheck // it has the path
}

// ReadFile implements [eval.Workspace]. No path leads out of the workspace.
func (w *workspace) ReadFile(_ context.Context, name string) ([]byte, error) {
	return readIn(w.dir(), name)
}

// readIn reads a file in a directory that it does not leave.
func readIn(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err //nolint:wrapcheck // it has the path
	}
	defer root.Close()
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return nil, err //nolint:wrapcheck // it has the path
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", name)
	case info.Size() > maxJudgedFile:
		return nil, fmt.Errorf("%s is larger than %d MB", name, maxJudgedFile>>20)
	}
	return root.ReadFile(name) //nolint:wrapcheck // it has the path
}

// Changes implements [eval.Workspace]. They are those that compare has found.
func (w *workspace) Changes(context.Context) ([]eval.Change, error) { return w.changes, nil }

// compare finds what the agent has changed, before a grader's command changes more. What is in
// directories of the name .git does not count: git writes there when somebody only looks.
func (w *workspace) compare(ctx context.Context) error {
	before, err := entriesOf(ctx, w.before(), false)
	if err != nil {
		return err
	}
	after, err := entriesOf(ctx, w.dir(), false)
	if err != nil {
		return err
	}
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if before[name] != after[name] {
			w.changes = append(w.changes, eval.Change{Path: name, Lines: w.lines(name)})
		}
	}
	return nil
}

// entriesOf has what stands for each file and symlink below a directory, by its path with slashes. If all is
// set, it also has the directories, and what is in those of the name .git.
func entriesOf(ctx context.Context, dir string, all bool) (map[string]string, error) {
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err //nolint:wrapcheck // it has the path
		}
		rel, _ := filepath.Rel(dir, name) // it is below
		rel = filepath.ToSlash(rel)
		switch mode := info.Mode(); {
		case mode.IsDir() && path.Base(rel) == ".git" && !all:
			return fs.SkipDir
		case mode.IsDir() && all:
			found[rel] = mode.String()
		case mode.IsRegular():
			sum, err := fileDigest(name)
			if errors.Is(err, fs.ErrPermission) {
				sum, err = "nobody may read it", nil
			}
			found[rel] = mode.String() + " " + sum
			return err
		case mode&fs.ModeSymlink != 0:
			to, err := os.Readlink(name)
			found[rel] = "symlink " + to
			return err //nolint:wrapcheck // it has the path
		case !mode.IsDir():
			found[rel] = mode.Type().String()
		}
		return nil
	})
	return found, err //nolint:wrapcheck // it has the path
}

// lines is how many lines of a file were added and removed; 0 for what is no text. Of a large
// file all lines count.
func (w *workspace) lines(name string) (n int) {
	text := func(dir string) string {
		data, err := readIn(dir, name)
		if err != nil || bytes.ContainsRune(data, 0) {
			return ""
		}
		return string(data)
	}
	before, after := text(w.before()), text(w.dir())
	diff := trace.UnifiedDiff(name, before, after)
	if diff == "" && before != after {
		return strings.Count(before, "\n") + strings.Count(after, "\n")
	}
	_, hunks, _ := strings.Cut(diff, "\n@@")
	for line := range strings.Lines(hunks) {
		if line[0] == '+' || line[0] == '-' {
			n++
		}
	}
	return n
}

// Run implements [eval.Workspace].
func (w *workspace) Run(ctx context.Context, command string) (status int, err error) {
	status, _, err = w.command(ctx, command)
	return status, err
}

// command runs a command by the shell. All that it has started ends with it. Why says how it
// ended, with the last line of its standard error.
func (w *workspace) command(ctx context.Context, command string) (status int, why string, err error) {
	p, err := procio.Start(procio.Config{Path: "sh", Args: []string{"-c", command}, Dir: w.dir(), Env: w.env, Grace: time.Second})
	if err != nil {
		return 0, "", fmt.Errorf("the shell cannot be started: %w", err)
	}
	defer p.Close() //nolint:errcheck // its group was killed, or has ended
	p.EndInput()
	ctx, cancel := context.WithTimeoutCause(ctx, w.limit, fmt.Errorf("it was ended after %s", w.limit))
	defer cancel()
	defer context.AfterFunc(ctx, p.Kill)()
	for err == nil {
		_, err = p.ReadText()
	}
	status = p.ExitCode()
	if cause := context.Cause(ctx); cause != nil {
		return 0, "", cause
	}
	if !errors.Is(err, io.EOF) {
		return 0, "", fmt.Errorf("the output of the command cannot be read: %w", err)
	}
	return status, p.Why(), nil
}
