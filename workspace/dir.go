// Package workspace is a directory that cannot be left.
package workspace

import "os"

// Dir is a directory that cannot be left.
type Dir struct{ root *os.Root }

// Open opens the directory.
func Open(dir string) (Dir, error) {
	root, err := os.OpenRoot(dir)
	return Dir{root: root}, err
}

// Close releases the directory.
func (d Dir) Close() error {
	if d.root == nil {
		return nil
	}
	return d.root.Close()
}
