package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tributary-dev/tributary/policy/permission"
)

// This file keeps the grants that outlive their session.

// grantBook keeps the grants that reach beyond their session, in a file of the
// gateway's own directory. Without a directory they last until the gateway stops.
type grantBook struct {
	path string // "" is none

	mu  mutex
	all []permission.Grant // never changed, only replaced

	writing sync.Mutex
}

// openGrantBook reads the file. One that is not there is empty.
func openGrantBook(dir string) (*grantBook, error) {
	b := &grantBook{}
	if dir == "" {
		return b, nil
	}
	b.path = filepath.Join(dir, "grants.json")
	data, err := os.ReadFile(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &b.all)
	}
	if err != nil {
		return nil, fmt.Errorf("the grants in %s cannot be read: correct the file, or remove it to revoke them all: %w", b.path, err)
	}
	return b, nil
}

// of returns the grants for an agent.
func (b *grantBook) of(agent string) []permission.Grant {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.all), func(g permission.Grant) bool { return g.Agent != agent })
}

func (b *grantBook) add(g permission.Grant) error {
	return b.change(func(all []permission.Grant) []permission.Grant {
		all = append(all, g)
		return all[max(0, len(all)-mostGrants):]
	})
}

func (b *grantBook) remove(id string) error {
	return b.change(func(all []permission.Grant) []permission.Grant {
		return slices.DeleteFunc(all, func(g permission.Grant) bool { return g.ID == id })
	})
}

// change replaces the list, and then the file as a whole.
func (b *grantBook) change(do func([]permission.Grant) []permission.Grant) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	b.mu.Lock()
	b.all = do(slices.Clone(b.all))
	all := b.all
	b.mu.Unlock()
	if b.path == "" {
		return nil
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("write the grants: %w", err)
	}
	if err := os.WriteFile(b.path+".new", data, 0o600); err != nil {
		return fmt.Errorf("write the grants: %w", err)
	}
	if err := os.Rename(b.path+".new", b.path); err != nil {
		return fmt.Errorf("write the grants: %w", err)
	}
	return nil
}
