package session

import (
	"errors"
	"fmt"
	"sync"

	"github.com/tributary-dev/tributary/workspace"
)

// dirs are the directories that agents work in: all agents in one share it, and
// it is open while there are any.
type dirs struct {
	// denied is the gateway's own directory, which no agent may read through the
	// gateway; "" is none.
	denied string

	mu   sync.Mutex
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
