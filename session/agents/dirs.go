package agents

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/session/lockorder"
)

// Dirs are the directories that agents work in: all agents in one share it, and
// it is open while there are any.
type Dirs struct {
	// Closed are the files and directories that no agent may read through the gateway.
	Closed []string

	mu   lockorder.Mutex
	open map[string]*sharedDir
}

type sharedDir struct {
	workspace.Dir
	users int
}

// Enter opens a directory. leave is called once.
func (d *Dirs) Enter(path string) (dir workspace.Dir, leave func(), err error) {
	if path == "" {
		return dir, nil, errors.New("the agent has no directory to work in: set cwd in the configuration, or start with --cwd")
	}
	var deny []workspace.Option
	for _, path := range d.Closed {
		deny = append(deny, workspace.Deny(path))
	}
	// Opened before the lock is taken, since the file system may hang.
	opened, err := workspace.Open(path, deny...)
	if err != nil {
		return dir, nil, fmt.Errorf("open the agent's directory: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.open[path]
	if s == nil {
		if d.open == nil {
			d.open = map[string]*sharedDir{}
		}
		s = &sharedDir{Dir: opened}
		d.open[path] = s
	} else {
		_ = opened.Close()
	}
	s.users++
	return s.Dir, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if s.users--; s.users == 0 {
			delete(d.open, path)
			_ = s.Close()
		}
	}, nil
}

// Len is how many directories are open.
func (d *Dirs) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.open)
}

// Names reports whether a path, seen from an agent's directory, leads to what is closed.
func (d *Dirs) Names(path, from string) bool {
	path = seenFrom(path, from)
	return slices.ContainsFunc(d.Closed, func(closed string) bool { return leadsInto(path, closed) })
}

// Holds reports whether a directory, seen from an agent's directory, has in it what is closed
// and exists. A symbolic link is in the directory of the link and in that of its target.
func (d *Dirs) Holds(path, from string) bool {
	path = seenFrom(path, from)
	return slices.ContainsFunc(d.Closed, func(closed string) bool {
		_, err := os.Stat(closed)
		return err == nil && (leadsInto(closed, path) || leadsInto(filepath.Dir(closed), path))
	})
}

// seenFrom makes a path absolute, as an agent would that expands the home directory or takes
// file URLs. The path is not cleaned: what .. means depends on the links before it.
func seenFrom(path, from string) string {
	path = strings.TrimPrefix(path, "file://")
	for _, home := range []string{"~", "$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(path, home); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
			if dir, err := os.UserHomeDir(); err == nil {
				return dir + rest
			}
		}
	}
	if !filepath.IsAbs(path) {
		path = from + string(filepath.Separator) + path
	}
	return path
}

// leadsInto reports whether an absolute path leads to a file or a directory, or into the
// directory, by symbolic links too. Neither needs to exist.
func leadsInto(path, target string) bool {
	at, err := os.Stat(target)
	if err != nil {
		return strings.EqualFold(workspace.Resolved(path), workspace.Resolved(target)) // nothing tells whether capital letters count
	}
	for real := false; ; path = filepath.Dir(path) {
		if !real {
			if there, err := filepath.EvalSymlinks(path); err == nil {
				path, real = there, true // what is above it has no symbolic links
			}
		}
		if info, err := os.Stat(path); err == nil && os.SameFile(info, at) {
			return true
		}
		if path == filepath.Dir(path) {
			return false
		}
	}
}
