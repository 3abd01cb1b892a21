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

// Deny makes a file, or a directory and all below it, outside, though it is below the
// workspace. It need not exist yet. A workspace that is itself below a denied directory
// cannot be opened.
//
// Each operation looks a denied file up anew, by its path and by its identity. So a file that
// another one replaces stays denied. The target of a symlink is denied, too, and so are hard
// links of the file, also where the file itself is not below the workspace.
func Deny(path string) Option {
	return func(o *options) { o.denied = append(o.denied, path) }
}

// Patience is how long an operation on a file may take; 10 s by default.
func Patience(d time.Duration) Option {
	return func(o *options) { o.patience = d }
}

// deny makes the denied paths absolute.
func deny(path string, all []string) ([]string, error) {
	var denied []string
	for _, p := range all {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, fmt.Errorf("find %s: %w", show(p), err)
		}
		if _, within := below(Resolved(abs), path); within {
			return nil, fmt.Errorf("workspace %q is in %q, which agents may not read: choose another directory", path, p)
		}
		denied = append(denied, abs)
	}
	return denied, nil
}

// closed is what counts as outside now.
type closed struct {
	paths []string // below the workspace, relative to it, without symlinks
	infos []fs.FileInfo
}

// place is where a denied file stands now.
type place struct {
	paths []string    // without symlinks above it: that of the file; for a symlink also that of its target
	info  fs.FileInfo // of the file, or the target; nil if there is none
}

func placeOf(path string) place {
	p := filepath.Join(Resolved(filepath.Dir(path)), filepath.Base(path))
	info, err := os.Lstat(p)
	switch {
	case err != nil:
		return place{paths: []string{p}}
	case info.Mode()&fs.ModeSymlink == 0:
		return place{[]string{p}, info}
	}
	if info, err = os.Stat(p); err != nil {
		info = nil
	}
	return place{[]string{p, Resolved(p)}, info}
}

// Places are the absolute paths under which a file can be found, without symlinks above it:
// that of the file; for a symlink also that of its target. The file need not exist.
func Places(path string) []string { return placeOf(path).paths }

// closed looks up what is denied.
func (d Dir) closed() closed {
	var c closed
	for _, path := range d.denied {
		at := placeOf(path)
		for _, p := range at.paths {
			if rel, within := below(d.path, p); within {
				c.paths = append(c.paths, strings.Trim(rel, string(filepath.Separator)))
			}
		}
		if at.info != nil {
			c.infos = append(c.infos, at.info)
		}
	}
	return c
}

// refuses reports whether a path is denied. Without info there is nothing at the path yet;
// then capital letters do not count, because the file system may not distinguish them.
func (c closed) refuses(rel string, info fs.FileInfo) bool {
	for _, no := range c.paths {
		if rel == no || info == nil && strings.EqualFold(rel, no) {
			return true
		}
	}
	for _, no := range c.infos {
		if info != nil && os.SameFile(no, info) {
			return true
		}
	}
	return false
}

// Resolved follows the symlinks of as much of an absolute path as exists.
func Resolved(path string) string {
	for at, rest := path, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
	}
}
