package session

import (
	"context"
	"errors"
)

// This file lists the files of workspaces for users.

// ErrNoFiles says that the files of a session's agent cannot be listed.
var ErrNoFiles = errors.New("this gateway has no workspace of the session's agent whose files it could list")

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
	all, err := h.listings.List(ctx, path, h.Now, h.dirs.Enter)
	if err != nil {
		return nil, false, err
	}
	files, more = all.Find(text, limit)
	return files, more, nil
}
