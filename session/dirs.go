package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tributary-dev/tributary/workspace"
)

// This file keeps agents out of each other's directories.

// dirs are the directories that agents work in: all agents in one share it, and
// it is open while there are any.
type dirs struct {
	// denied is the gateway's own directory, which no agent may read through the
	// gateway; "" is none.
	denied string

	mu   mutex
	open map[string]*sharedDir
}

type sharedDir struct {
	workspace.Dir
	users int
}

// enter opens a directory. leave is called once.
func (d *dirs) enter(path string) (dir workspace.Dir, leave func(), err error) {
	if path == "" {
		return dir, nil, errors.New("the agent has no directory to work in: set cwd in the configuration, or start with --cwd")
	}
	var deny []workspace.Option
	if d.denied != "" {
		deny = append(deny, workspace.Deny(d.denied))
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

// leadsInto reports whether a path, seen from a directory, leads into another directory,
// by symbolic links too. The end of the path need not exist.
func leadsInto(path, from, dir string) bool {
	if !filepath.IsAbs(path) {
		path = from + string(filepath.Separator) + path // not cleaned: what .. means depends on the links before it
	}
	at, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for ; ; path = filepath.Dir(path) {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real // what is above it has no symbolic links
		}
		if info, err := os.Stat(path); err == nil && os.SameFile(info, at) {
			return true
		}
		if path == filepath.Dir(path) {
			return false
		}
	}
}
