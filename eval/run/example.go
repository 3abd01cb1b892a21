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
	if err = os.CopyFS(dir, tree); err != nil {
		return nil, fmt.Errorf("the example cannot be written: %w", err)
	}
	return names, nil
}
