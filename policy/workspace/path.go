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

// Rel returns path as the workspace's own: relative to it, "." for itself. A
// relative path is taken from the workspace. Rel looks at the text only and
// touches no file, so a path that Rel accepts may still lead out by a symlink. Contains
// and the methods that open files check symlinks.
func (d Dir) Rel(path string) (string, error) {
	steps, ok := d.steps(path)
	if !ok {
		return "", d.fail("find", path, ErrOutside)
	}
	return join(steps), nil
}

// join does not tidy, as filepath.Join would.
func join(steps []string) string {
	if len(steps) == 0 {
		return "."
	}
	return strings.Join(steps, string(filepath.Separator))
}

// steps splits path into its components below the workspace. ".." stays where
// it is unless it climbs out.
func (d Dir) steps(path string) ([]string, bool) {
	if path == "" || d.path == "" || strings.IndexByte(path, 0) >= 0 {
		return nil, false
	}
	if filepath.IsAbs(path) {
		inside, ok := below(d.path, path)
		if !ok {
			inside, ok = below(d.alias, path)
		}
		if !ok {
			return nil, false
		}
		path = inside
	} else if filepath.VolumeName(path) != "" || os.IsPathSeparator(path[0]) {
		return nil, false // Windows: C:x and \x depend on a current drive
	}
	var steps []string
	depth := 0
	for step := range strings.FieldsFuncSeq(path, separator) {
		switch step {
		case ".":
			continue
		case "..":
			depth--
		default:
			depth++
		}
		if depth < 0 {
			return nil, false
		}
		steps = append(steps, step)
	}
	return steps, true
}

// below cuts dir off the front of path.
func below(dir, path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, dir)
	if !ok || rest != "" && !os.IsPathSeparator(rest[0]) && !os.IsPathSeparator(dir[len(dir)-1]) {
		return "", false
	}
	return rest, true
}

func separator(r rune) bool { return 0 <= r && r < 0x80 && os.IsPathSeparator(uint8(r)) }

// Contains reports whether path is inside, symlinks resolved. A path that does not
// exist yet is inside if a new file there would be: below a directory that exists
// and is inside, with no ".." on the way. A symlink to nothing is outside, and so
// is a path that cannot be looked up. The answer holds at the moment when it is
// given.
func (d Dir) Contains(path string) bool {
	steps, ok := d.steps(path)
	if !ok || d.root == nil {
		return false
	}
	inside, err := bounded(d.gate, func(context.Context) (bool, error) { return d.contains(join(steps)), nil })
	return inside && err == nil
}

func (d Dir) contains(name string) bool {
	if _, err := d.stat(name); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err == nil
	}
	steps := strings.Split(name, string(filepath.Separator))
	if slices.Contains(steps, "..") {
		return false
	}
	for i := range steps {
		name := join(steps[:i+1])
		if _, err := d.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return !d.closed().refuses(name, nil) // all before it are directories, all after it is new
		}
		if info, err := d.stat(name); err != nil || !info.IsDir() {
			return false
		}
	}
	return false
}

// stat follows symlinks, and fails for what is denied.
func (d Dir) stat(name string) (fs.FileInfo, error) {
	if len(d.denied) > 0 {
		return d.walk(name)
	}
	return d.root.Stat(name)
}
