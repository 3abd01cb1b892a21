package listing

import (
	"context"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/policy/workspace"
)

const (
	// keptFor is how long a listing serves, so that a person who types causes one walk.
	keptFor = 3 * time.Second
	// mostKept bounds the listings in memory: each session can have a workspace of its own.
	mostKept = 64
)

// Cache has the newest listings of workspaces. The zero Cache is empty, and a Cache is safe for
// concurrent use.
type Cache struct {
	mu sync.Mutex
	of map[string]*kept // by the directory
}

// kept is the newest listing of one directory.
type kept struct {
	walking chan struct{} // holds a token while somebody walks
	listing Listing
	at      time.Time
}

func (c *Cache) dir(path string) *kept {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]*kept{}
	}
	d := c.of[path]
	if d == nil {
		d = &kept{walking: make(chan struct{}, 1)}
		if len(c.of) >= mostKept { // those that callers use end with them
			clear(c.of)
		}
		c.of[path] = d
	}
	return d
}

// List lists a workspace, which open opens if need be. Callers of the same workspace wait for one walk.
func (c *Cache) List(ctx context.Context, path string, now func() time.Time, open func(path string) (workspace.Dir, func(), error)) (Listing, error) {
	d := c.dir(path)
	select {
	case d.walking <- struct{}{}:
		defer func() { <-d.walking }()
	case <-ctx.Done():
		return Listing{}, ctx.Err()
	}
	if !d.at.IsZero() && now().Sub(d.at) < keptFor {
		return d.listing, nil
	}
	dir, leave, err := open(path)
	if err != nil {
		return Listing{}, err
	}
	defer leave()
	if d.listing, err = Walk(context.WithoutCancel(ctx), dir); err != nil {
		return Listing{}, err
	}
	d.at = now()
	return d.listing, nil
}
