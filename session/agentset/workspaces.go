package cli

import (
	"cmp"
	"context"
	"maps"
	"os"
	"os/exec"
	"slices"

	"github.com/tributary-dev/tributary/policy/workspace/spaces"
	"github.com/tributary-dev/tributary/session"
)

// This file has the directory for the workspaces that sessions have of their own.

// workspacesDir is the directory for workspaces; "" if the sessions of no agent have their own.
func (s *setup) workspacesDir(agents map[string]session.Agent) string {
	for _, a := range agents {
		if a.Workspace.Own() {
			return cmp.Or(s.Workspaces, s.Data+"-workspaces")
		}
	}
	return ""
}

// workspacesApart refuses a directory for workspaces that holds what no agent may read, or lies in
// it. It refuses directories of agents too of which no session may get a copy.
func (s *setup) workspacesApart(agents map[string]session.Agent) error {
	dir := s.workspacesDir(agents)
	if dir == "" {
		return nil
	}
	if overlap(dir, s.Data) {
		return usage("the directory for workspaces %s and the data directory %s overlap, so agents could read the gateway's token and all sessions: choose another directory with workspaces", dir, s.Data)
	}
	for _, path := range s.everyAgent().ClosedFiles() {
		if within(path, dir) {
			return usage("the file %s, which no agent may read, lies in the directory for workspaces %s: choose another directory with workspaces", path, dir)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		a := agents[name]
		if !a.Workspace.Own() {
			continue
		}
		switch {
		case overlap(dir, a.Cwd):
			return usage("the directory for workspaces %s and the workspace %s of the agent %s overlap: choose another directory with workspaces, or another cwd for the agent", dir, a.Cwd, name)
		case overlap(s.Data, a.Cwd):
			return usage("the data directory %s and the workspace %s of the agent %s overlap, so each session would get a copy of the gateway's token: choose another --data or another cwd for the agent", s.Data, a.Cwd, name)
		}
		for _, secret := range s.everyAgent().SecretFiles() {
			if within(secret, a.Cwd) {
				return usage("the secret file %s lies in the workspace %s of the agent %s, so each session would get a copy: keep the file in another directory", secret, a.Cwd, name)
			}
		}
		if _, err := exec.LookPath("git"); err != nil && a.Workspace == spaces.OwnWorktree {
			return s.Fault("agents."+name+".workspace", "is %s, and git is not installed on this machine: install it, or write %s", a.Workspace, spaces.OwnCopy)
		}
	}
	return nil
}

// openWorkspaces opens the directory. Sessions that have workspaces keep them when the configuration
// gives new sessions none any more.
func (s *setup) openWorkspaces(ctx context.Context, agents map[string]session.Agent) (*spaces.Maker, error) {
	dir := s.workspacesDir(agents)
	if dir == "" {
		dir = cmp.Or(s.Workspaces, s.Data+"-workspaces")
		if _, err := os.Stat(dir); err != nil {
			return nil, nil //nolint:nilnil,nilerr // no session has one
		}
	}
	return spaces.Open(ctx, dir)
}
