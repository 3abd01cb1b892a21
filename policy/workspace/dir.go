package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrOutside is the error of every path that leads out of the workspace. The empty path and
// a path with a NUL byte count as outside too.
var ErrOutside = errors.New("path is outside the workspace")

// Dir is a directory that no path can leave. Copies are the same directory. A Dir is safe
// for concurrent use. The methods of a zero Dir fail.
type Dir struct {
	root *os.Root
	// path is the real path of the directory, alias the path that Open got. An agent may
	// use either.
	path, alias string
	// escape is the error of package os for a path that escapes. Package os does not
	// export that error.
	escape error
	denied []string // absolute paths
	gate   *gate
}

// errNotOpen is the error of a zero Dir.
var errNotOpen = errors.New("workspace is not open")

// Open opens a directory that exists.
func Open(dir string, opts ...Option) (Dir, error) {
	o := options{patience: defaultPatience}
	for _, opt := range opts {
		opt(&o)
	}
	g := newGate(o.patience)
	d, err := bounded(g, func(context.Context) (Dir, error) { return open(dir, o) })
	if errors.Is(err, ErrSlow) {
		return Dir{}, fmt.Errorf("workspace %q cannot be opened: %w", dir, err)
	}
	d.gate = g
	return d, err
}

func open(dir string, o options) (Dir, error) {
	alias, err := filepath.Abs(dir)
	if err != nil {
		return Dir{}, fmt.Errorf("workspace %q cannot be opened: %w", dir, err)
	}
	path, err := filepath.EvalSymlinks(alias)
	if err != nil {
		return Dir{}, fmt.Errorf("workspace %q cannot be opened: %w", dir, err)
	}
	no, err := deny(path, o.denied)
	if err != nil {
		return Dir{}, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return Dir{}, fmt.Errorf("workspace %q cannot be opened: %w", dir, err)
	}
	_, err = root.Lstat("..")
	var pathError *fs.PathError
	if !errors.As(err, &pathError) {
		return Dir{}, fmt.Errorf("workspace %q cannot be opened: its parent is not out of reach: %w", dir, errors.Join(err, root.Close()))
	}
	return Dir{root: root, path: path, alias: alias, escape: pathError.Err, denied: no}, nil
}

// Path returns the absolute path of the workspace, symlinks resolved.
func (d Dir) Path() string { return d.path }

// Close releases the directory; afterwards every use fails. Close is idempotent.
func (d Dir) Close() error {
	if d.root == nil {
		return nil
	}
	return d.root.Close()
}

// open checks that the directory is open, and returns path relative to it.
func (d Dir) open(path string) (string, error) {
	if d.root == nil {
		return "", errNotOpen
	}
	return d.Rel(path)
}

// fail turns every escape into ErrOutside, and adds the operation and the path.
func (d Dir) fail(verb, path string, err error) error {
	if err == nil {
		return nil
	}
	if d.escape != nil && errors.Is(err, d.escape) {
		err = ErrOutside
	}
	// The operating system's error names a path of its own; one path is enough.
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathError.Err
	}
	return fmt.Errorf("%s %s: %w", verb, show(path), err)
}

// show makes a path readable in an error.
func show(path string) string {
	const most = 200
	if len(path) > most {
		path = path[:most] + "…"
	}
	return fmt.Sprintf("%q", path)
}
