package run

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed all:example
var example embed.FS //nolint:gochecknoglobals // the compiler sets variables only

// WriteExample writes a suite that runs with the built-in demo agent into a directory, and returns the
// paths of its files there. It replaces no file: if one is there already, it writes none.
func WriteExample(dir string) (names []string, err error) {
	tree, err := fs.Sub(example, "example")
	if err != nil {
		return nil, err //nolint:wrapcheck // it cannot be
	}
	err = fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is there already: name another directory", filepath.Join(dir, name))
		}
		names = append(names, name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := writeNew(filepath.Join(dir, name), tree, name); err != nil {
			return nil, fmt.Errorf("the example cannot be written: %w", err)
		}
	}
	return names, nil
}

// writeNew copies a file that is not there yet.
func writeNew(to string, tree fs.FS, name string) error {
	data, err := fs.ReadFile(tree, name)
	if err != nil {
		return err //nolint:wrapcheck // it cannot be
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // as directories of the user's
		return err //nolint:wrapcheck // it has the path
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // as above
	if err != nil {
		return err //nolint:wrapcheck // it has the path
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
