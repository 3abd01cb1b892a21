package agentset

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tributary-dev/tributary/policy/workspace"
)

// Conflict is an agent whose workspace holds what the agent must not read.
type Conflict struct {
	// Sentence says what lies where, and what to do.
	Sentence string
	// LeftOut says the same of an agent that is only offered, and is not offered then.
	LeftOut string
}

// Error implements error.
func (c *Conflict) Error() string { return c.Sentence }

// Apart refuses a workspace that holds the data directory, or lies in it, and a workspace with a
// secret for an agent that could read it unasked. An agent reads its workspace without asking,
// and the data directory holds the token and all sessions. Agents that touch no files have no
// workspace. Nil is no conflict.
func (g Gateway) Apart(a Agent) *Conflict {
	name, cwd, secrets := a.Settings.Name, a.Cwd, g.secretsIn(a.Cwd)
	switch {
	case a.Kind.Harmless:
	case g.Data != "" && overlap(g.Data, cwd):
		return &Conflict{
			fmt.Sprintf("the data directory %s and the workspace %s of the agent %s overlap, so the agent could read the gateway's token and all sessions: choose another %s or another %s", g.Data, cwd, name, g.DataSetting, g.CwdSetting),
			fmt.Sprintf("its workspace and the data directory overlap: to use it, start in a project's folder, or choose another %s or %s", g.DataSetting, g.CwdSetting),
		}
	case g.Workspaces != "" && overlap(g.Workspaces, cwd):
		return &Conflict{
			fmt.Sprintf("the directory for workspaces %s and the workspace %s of the agent %s overlap: choose another directory with workspaces, or another cwd for the agent", g.Workspaces, cwd, name),
			"its workspace and the directory for workspaces overlap: to use it, choose another directory with workspaces",
		}
	case !a.Kind.KeepsClosed && len(secrets) > 0:
		return &Conflict{
			fmt.Sprintf("the secret file %s lies in the workspace %s of the agent %s, which can read it unasked: move the file to another directory, or choose another cwd for the agent", secrets[0], cwd, name),
			"the secret file " + secrets[0] + " lies in its workspace: to use it, move the file to another directory",
		}
	}
	return nil
}

// secretsIn are the secret files that are in a directory.
func (g Gateway) secretsIn(dir string) []string {
	return slices.DeleteFunc(slices.Clone(g.SecretFiles), func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.Mode().IsRegular() && !info.IsDir() || !Within(path, dir)
	})
}

// overlap reports whether one of two directories is the other, or in it.
func overlap(a, b string) bool { return Within(a, b) || Within(b, a) }

// Within reports whether a path is a directory or below it, after all symbolic links. The
// path and the directory need not exist.
func Within(path, dir string) bool {
	path, dir = workspace.Resolved(path), workspace.Resolved(dir)
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return true
	}
	at, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for ; ; path = filepath.Dir(path) { // a file system may know one directory by several names, such as in capital letters
		if info, err := os.Stat(path); err == nil && os.SameFile(info, at) {
			return true
		}
		if path == filepath.Dir(path) {
			return false
		}
	}
}
