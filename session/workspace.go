package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/policy/workspace/spaces"
)

// This file has the workspaces of sessions that do not share their agent's directory.

// Errors about workspaces on which a caller acts.
var (
	ErrUnknownWorkspace = errors.New("no session of this id has a workspace of its own here")
	ErrWorkspaceInUse   = errors.New("the session of this workspace still exists: delete the session, which removes its workspace if nothing would be lost")
)

// workspace finds a session's own workspace.
func (h *Hub) workspace(w Workspace) (spaces.Space, error) {
	if h.Workspaces == nil {
		return spaces.Space{}, errors.New("this session has a workspace of its own, and the gateway has no directory for workspaces any more: set workspaces in the configuration, and workspace for an agent")
	}
	return h.Workspaces.Find(w.Name)
}

// workIn returns the directory that the session's agent works in, and all paths that a program there has to reach. The first call makes the
// session's own workspace, if the session has one, and waiting learns of that.
func (l *activeSession) workIn(ctx context.Context, a Agent, waiting func(reason string)) (cwd string, paths []string, err error) {
	own := l.document().Workspace
	if own.Form == "" {
		return a.Cwd, nil, nil
	}
	if !own.Made && l.hub.Workspaces != nil {
		waiting("the workspace of this session is made")
		if _, err := l.hub.Workspaces.Make(ctx, spaces.Wanted{Name: own.Name, Session: l.id, Agent: l.document().Agent, Form: own.Form, Source: a.Cwd}); err != nil {
			return "", nil, err
		}
		l.mu.Lock()
		l.info.Workspace.Made = true
		l.mu.Unlock()
		l.saveLater()
	}
	s, err := l.hub.workspace(own)
	if err == nil {
		paths, err = s.Paths(ctx)
	}
	return s.Path(), paths, err
}

// leaveWorkspace removes the workspace of a session that was deleted. A workspace with something
// that is nowhere else stays, and is on the list: then leaveWorkspace says why.
func (l *activeSession) leaveWorkspace(ctx context.Context) (kept string) {
	own := l.document().Workspace
	if own.Form == "" || l.hub.Workspaces == nil {
		return ""
	}
	err := l.hub.Workspaces.Remove(ctx, own.Name, false)
	if err == nil {
		return ""
	}
	l.hub.Logger.Warn("the workspace of a deleted session is kept: tributary workspaces shows it", "session", l.id, "why", err)
	if _, loses := errors.AsType[*spaces.LossError](err); loses {
		return err.Error()
	}
	return "the workspace of the session could not be removed: the gateway's log says why, and `tributary workspaces` shows it"
}

// WorkspaceState is a workspace, and what it holds.
type WorkspaceState struct {
	spaces.Space
	spaces.Holding
	// LeftOver says that the session was deleted.
	LeftOver bool
}

// ListWorkspaces lists the workspaces of sessions, and looks into each.
func (h *Hub) ListWorkspaces(ctx context.Context) ([]WorkspaceState, error) {
	all, err := h.workspaces(ctx, "")
	for i := range all {
		all[i].Holding = all[i].Look(ctx)
	}
	return all, err
}

// workspaces lists the workspaces of sessions, or of those with one id.
func (h *Hub) workspaces(ctx context.Context, id string) (all []WorkspaceState, err error) {
	if h.Workspaces == nil {
		return nil, nil
	}
	there, err := h.Workspaces.List()
	for _, s := range there {
		if id != "" && s.Session != id {
			continue
		}
		info, err := h.stored(ctx, s.Session)
		gone := errors.Is(err, ErrUnknownSession) || err == nil && info.Workspace.Name != s.Name
		if _, damaged := errors.AsType[*eventlog.DamageError](err); err != nil && !gone && !damaged { // a damaged session is there
			return nil, err
		}
		all = append(all, WorkspaceState{Space: s, LeftOver: gone})
	}
	return all, err
}

// stored is what is known of a session, without a place in memory for it.
func (h *Hub) stored(ctx context.Context, id string) (Info, error) {
	if l := h.ifInMemory(id); l != nil {
		return l.view().Info, nil
	}
	return h.read(ctx, id)
}

// RemoveWorkspace removes the workspaces that deleted sessions of an id have left. If something in one
// is nowhere else, the error is a spaces.LossError, unless discard is set.
func (h *Hub) RemoveWorkspace(ctx context.Context, id string, discard bool) error {
	all, err := h.workspaces(ctx, id)
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(all), func(w WorkspaceState) bool { return !w.LeftOver })
	for _, w := range left {
		if err := h.Workspaces.Remove(context.WithoutCancel(ctx), w.Name, discard); err != nil {
			return err
		}
	}
	switch {
	case len(left) > 0:
		return nil
	case len(all) > 0:
		return ErrWorkspaceInUse
	}
	return fmt.Errorf("%w: %q", ErrUnknownWorkspace, id)
}

// WorkspacePath is the directory of a session's own workspace; "" if the session has none, or none
// that is made and there.
func (h *Hub) WorkspacePath(info Info) string {
	if !info.Workspace.Made {
		return ""
	}
	s, err := h.workspace(info.Workspace)
	if err != nil {
		return ""
	}
	return s.Path()
}
