package session

import (
	"context"
	"errors"
	"time"

	"github.com/tributary-dev/tributary/policy/workspace/listing"
)

// This file lists the files of workspaces for users.

// ErrNoFiles says that the files of a session's agent cannot be listed.
var ErrNoFiles = errors.New("this gateway has no workspace of the session's agent whose files it could list")

// filesFor is how long a listing serves, so that a person who types causes one walk.
const filesFor = 3 * time.Second

// mostListings bounds the listings in memory: each session can have a workspace of its own.
const mostListings = 64

// listings are the newest listings of workspaces, by their directories.
type listings struct {
	mu mutex
	of map[string]*dirListing
}

// dirListing is the newest listing of one directory.
type dirListing struct {
	walking chan struct{} // holds a token while somebody walks
	listing listing.Listing
	at      time.Time
}

func (l *listings) dir(path string) *dirListing {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[string]*dirListing{}
	}
	d := l.of[path]
	if d == nil {
		d = &dirListing{walking: make(chan struct{}, 1)}
		if len(l.of) >= mostListings { // those that callers use end with them
			clear(l.of)
		}
		l.of[path] = d
	}
	return d
}

// Files finds files in the workspace of a session's agent, the best match first, and tells
// whether there are more.
func (h *Hub) Files(ctx context.Context, session, text string, limit int) (files []string, more bool, err error) {
	s, err := h.Get(ctx, session)
	if err != nil {
		return nil, false, err
	}
	a, ok := h.Agents[s.Agent]
	if !ok || !a.Files || a.Cwd == "" {
		return nil, false, ErrNoFiles
	}
	path := a.Cwd
	if s.Workspace.Made { // else it is as the agent's directory is
		own, err := h.workspace(s.Workspace)
		if err != nil {
			return nil, false, err
		}
		path = own.Path()
	}
	all, err := h.files(ctx, path)
	if err != nil {
		return nil, false, err
	}
	files, more = all.Find(text, limit)
	return files, more, nil
}

// files lists a workspace. Callers of the same workspace wait for one walk.
func (h *Hub) files(ctx context.Context, path string) (listing.Listing, error) {
	d := h.listings.dir(path)
	select {
	case d.walking <- struct{}{}:
		defer func() { <-d.walking }()
	case <-ctx.Done():
		return listing.Listing{}, ctx.Err()
	}
	if !d.at.IsZero() && h.Now().Sub(d.at) < filesFor {
		return d.listing, nil
	}
	dir, leave, err := h.dirs.enter(path)
	if err != nil {
		return listing.Listing{}, err
	}
	defer leave()
	if d.listing, err = listing.Walk(context.WithoutCancel(ctx), dir); err != nil {
		return listing.Listing{}, err
	}
	d.at = h.Now()
	return d.listing, nil
}
