package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Option changes how a workspace is opened.
type Option func(*options)

type options struct {
	denied   []string
	patience time.Duration
}

// Deny makes a directory, and all below it, outside, though it is below the
// workspace. A workspace that is itself below a denied directory cannot be opened.
func Deny(dir string) Option {
	return func(o *options) { o.denied = append(o.denied, dir) }
}

// Patience is how long an operation on a file may take; 10 s by default.
func Patience(d time.Duration) Option {
	return func(o *options) { o.patience = d }
}

// denied is a directory below the workspace that counts as outside.
type denied struct {
	rel  string      // its path in the workspace, without symlinks
	info fs.FileInfo // nil if the directory did not exist when the workspace was opened
}

// deny finds the denied directories that are below the workspace at path.
func deny(path string, dirs []string) ([]denied, error) {
	var all []denied
	for _, dir := range dirs {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("find %s: %w", show(dir), err)
		}
		real := resolved(abs)
		if _, within := below(real, path); within {
			return nil, fmt.Errorf("workspace %q is in %q, which agents may not read: choose another directory", path, dir)
		}
		rel, within := below(path, real)
		if !within {
			continue // os.Root keeps it out
		}
		info, err := os.Stat(real)
		if err != nil {
			info = nil
		}
		all = append(all, denied{rel: strings.Trim(rel, string(filepath.Separator)), info: info})
	}
	return all, nil
}

// resolved follows the symlinks of as much of a path as exists.
func resolved(path string) string {
	for at, rest := path, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
	}
}

// refuses reports whether a directory is denied.
func (d Dir) refuses(rel string, info fs.FileInfo) bool {
	for _, no := range d.denied {
		if rel == no.rel || no.info != nil && os.SameFile(no.info, info) {
			return true
		}
	}
	return false
}
