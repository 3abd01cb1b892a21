package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrOutside is the error of every path that leads out of the workspace, and of
// those that name nothing anywhere: the empty one, and one with a NUL byte.
var ErrOutside = errors.New("path is outside the workspace")

// Dir is a directory that cannot be left. Copies are the same directory; it is
// safe for concurrent use. The methods of a zero Dir fail.
type Dir struct {
	root *os.Root
	// path is where the directory is, alias what the caller called it: an agent
	// may have learnt either.
	path, alias string
	// escape is the error by which os, which does not export it, says that a
	// path escapes.
	escape error
	denied []denied
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

// open checks that there is a root, and takes path to what it knows it by.
func (d Dir) open(path string) (string, error) {
	if d.root == nil {
		return "", errNotOpen
	}
	return d.Rel(path)
}

// fail puts the one name on an escape and says what was tried.
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

// show keeps a path readable in an error, whatever an agent made of it.
func show(path string) string {
	const most = 200
	if len(path) > most {
		path = path[:most] + "…"
	}
	return fmt.Sprintf("%q", path)
}
