package agentset

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"

	"github.com/tributary-dev/tributary/policy/workspace/spaces"
	"github.com/tributary-dev/tributary/session"
)

// WorkspacesApart refuses a directory for workspaces that holds what no agent may read, or lies in
// it. It refuses directories of agents too of which no session may get a copy.
func (g Gateway) WorkspacesApart(agents map[string]session.Agent) error {
	dir := g.Workspaces
	if dir == "" {
		return nil
	}
	if g.Data != "" && overlap(dir, g.Data) {
		return fmt.Errorf("the directory for workspaces %s and the data directory %s overlap, so agents could read the gateway's token and all sessions: choose another directory with workspaces", dir, g.Data)
	}
	for _, path := range slices.Concat(g.SecretFiles, g.Closed) {
		if Within(path, dir) {
			return fmt.Errorf("the file %s, which no agent may read, lies in the directory for workspaces %s: choose another directory with workspaces", path, dir)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		a := agents[name]
		if !a.Workspace.Own() {
			continue
		}
		switch {
		case overlap(dir, a.Cwd):
			return fmt.Errorf("the directory for workspaces %s and the workspace %s of the agent %s overlap: choose another directory with workspaces, or another cwd for the agent", dir, a.Cwd, name)
		case g.Data != "" && overlap(g.Data, a.Cwd):
			return fmt.Errorf("the data directory %s and the workspace %s of the agent %s overlap, so each session would get a copy of the gateway's token: choose another %s or another cwd for the agent", g.Data, a.Cwd, name, g.DataSetting)
		}
		for _, secret := range g.SecretFiles {
			if Within(secret, a.Cwd) {
				return fmt.Errorf("the secret file %s lies in the workspace %s of the agent %s, so each session would get a copy: keep the file in another directory", secret, a.Cwd, name)
			}
		}
		if _, err := exec.LookPath("git"); err != nil && a.Workspace == spaces.OwnWorktree {
			return &Refusal{name, "workspace", fmt.Sprintf("is %s, and git is not installed on this machine: install it, or write %s", a.Workspace, spaces.OwnCopy)}
		}
	}
	return nil
}
