package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mostLinks is how many symlinks a path may lead through, as in Linux.
const mostLinks = 40

// walk follows name step by step, each directory opened by its parent, and returns
// what is there. It fails with the escape error where the way leads to what is denied,
// or through it. A directory or a link that is exchanged meanwhile is an escape, too.
func (d Dir) walk(name string) (fs.FileInfo, error) {
	w := walk{dir: d, closed: d.closed(), todo: strings.Split(name, string(filepath.Separator))}
	defer w.close()
	info, err := w.root().Stat(".")
	for err == nil && len(w.todo) > 0 {
		step := w.todo[0]
		w.todo = w.todo[1:]
		info, err = w.step(step)
	}
	return info, err
}

// walk is a way through directories that are open.
type walk struct {
	dir    Dir
	closed closed
	todo   []string
	names  []string
	last   string // the name of a file at the end of the way
	open   []*os.Root
	links  int
}

func (w *walk) root() *os.Root {
	if len(w.open) == 0 {
		return w.dir.root
	}
	return w.open[len(w.open)-1]
}

func (w *walk) close() {
	for _, r := range w.open {
		_ = r.Close() // it was read only
	}
}

func (w *walk) step(step string) (fs.FileInfo, error) {
	switch step {
	case "", ".":
		return w.root().Stat(".")
	case "..":
		return w.up()
	}
	info, err := w.root().Lstat(step)
	if err != nil {
		return nil, err
	}
	rel := filepath.Join(append(slices.Clone(w.names), step)...)
	switch {
	case w.closed.refuses(rel, info):
		return nil, w.dir.escape
	case info.Mode()&fs.ModeSymlink != 0:
		return w.follow(step)
	case info.IsDir():
		return info, w.down(step, info)
	case len(w.todo) > 0:
		return nil, &fs.PathError{Op: "open", Path: step, Err: errors.New("not a directory")}
	}
	w.last = step
	return info, nil
}

// Resolve returns path relative to the workspace and without symlinks. A path that
// does not exist yet resolves to the place where a new file would be.
func (d Dir) Resolve(path string) (string, error) {
	name, err := d.open(path)
	if err != nil {
		return "", err
	}
	rel, err := bounded(d.gate, func(context.Context) (string, error) { return d.resolve(name) })
	return rel, d.fail("find", path, err)
}

func (d Dir) resolve(name string) (string, error) {
	w := walk{dir: d, closed: d.closed(), todo: strings.Split(name, string(filepath.Separator))}
	defer w.close()
	for len(w.todo) > 0 {
		step := w.todo[0]
		w.todo = w.todo[1:]
		_, err := w.step(step)
		if errors.Is(err, fs.ErrNotExist) && !slices.Contains(w.todo, "..") {
			return filepath.Join(append(append(slices.Clone(w.names), step), w.todo...)...), nil
		}
		if err != nil {
			return "", err
		}
	}
	if rel := filepath.Join(append(slices.Clone(w.names), w.last)...); rel != "" {
		return rel, nil
	}
	return ".", nil
}

func (w *walk) up() (fs.FileInfo, error) {
	if len(w.open) == 0 {
		return nil, w.dir.escape
	}
	last := len(w.open) - 1
	err := w.open[last].Close()
	w.open, w.names = w.open[:last], w.names[:last]
	if err != nil {
		return nil, err
	}
	return w.root().Stat(".")
}

func (w *walk) down(step string, info fs.FileInfo) error {
	sub, err := w.root().OpenRoot(step)
	if err != nil {
		return err
	}
	w.open, w.names = append(w.open, sub), append(w.names, step)
	opened, err := sub.Stat(".")
	if err == nil && !os.SameFile(info, opened) {
		err = w.dir.escape
	}
	return err
}

// follow puts the target of a link in front of what is left of the way.
func (w *walk) follow(step string) (fs.FileInfo, error) {
	if w.links++; w.links > mostLinks {
		return nil, errors.New("too many levels of symbolic links")
	}
	target, err := w.root().Readlink(step)
	if err != nil {
		return nil, err
	}
	if filepath.IsAbs(target) {
		return nil, w.dir.escape
	}
	w.todo = append(strings.Split(target, string(filepath.Separator)), w.todo...)
	return w.root().Stat(".")
}

// same reports whether walk reaches the same file under name as the file that was opened.
// If nothing is denied, os.Root has checked all of it.
func (d Dir) same(name string, opened fs.FileInfo) error {
	if len(d.denied) == 0 {
		return nil
	}
	info, err := d.walk(name)
	if err == nil && !os.SameFile(info, opened) {
		err = d.escape
	}
	return err
}
