package cli

import (
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/session"
)

// apart refuses workspaces that hold the data directory, or lie in it, and workspaces with a
// secret for agents that could read it unasked. An agent reads its workspace without asking,
// and the data directory holds the token and all sessions. Agents that touch no files have no
// workspace. An agent that neither the configuration nor
// --agent names is not offered then, so that a first start in the home directory succeeds.
func (s *setup) apart(agents map[string]session.Agent, logger *slog.Logger) error {
	if err := s.workspacesApart(agents); err != nil {
		return err
	}
	workspaces := s.workspacesDir(agents)
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		kind, _, err := s.adapterOf(name)
		if err != nil {
			return err
		}
		cwd := agents[name].Cwd
		_, named := s.named[name]
		offered := !named && name != s.DefaultAgent
		leaveOut := func(why string) {
			delete(agents, name)
			delete(s.Agents, name)
			logger.Warn("an agent is not offered, because "+why, "agent", name, "workspace", cwd, "data", s.Data)
		}
		switch secrets := s.secretsIn(cwd); {
		case kind.Harmless:
		case overlap(s.Data, cwd):
			if !offered {
				return usage("the data directory %s and the workspace %s of the agent %s overlap, so the agent could read the gateway's token and all sessions: choose another --data or another --cwd", s.Data, cwd, name)
			}
			leaveOut("its workspace and the data directory overlap: to use it, start in a project's folder, or choose another --data or --cwd")
		case workspaces != "" && overlap(workspaces, cwd):
			if !offered {
				return usage("the directory for workspaces %s and the workspace %s of the agent %s overlap: choose another directory with workspaces, or another cwd for the agent", workspaces, cwd, name)
			}
			leaveOut("its workspace and the directory for workspaces overlap: to use it, choose another directory with workspaces")
		case !kind.KeepsClosed && len(secrets) > 0:
			if !offered {
				return usage("the secret file %s lies in the workspace %s of the agent %s, which can read it unasked: move the file to another directory, or choose another cwd for the agent", secrets[0], cwd, name)
			}
			leaveOut("the secret file " + secrets[0] + " lies in its workspace: to use it, move the file to another directory")
		}
	}
	return nil
}

// secretsIn are the secret files of the configuration that are in a directory.
func (s *setup) secretsIn(dir string) []string {
	return slices.DeleteFunc(s.everyAgent().SecretFiles(), func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.Mode().IsRegular() || !within(path, dir)
	})
}

// everyAgent is the configuration with the agents that are not offered, too: their files hold
// secrets all the same.
func (s *setup) everyAgent() config.Config {
	c := s.Config
	c.Agents = s.named
	return c
}

// overlap reports whether one of two directories is the other, or in it.
func overlap(a, b string) bool { return within(a, b) || within(b, a) }

// within reports whether a path is a directory or below it, after all symbolic links. The
// path and the directory need not exist.
func within(path, dir string) bool {
	path, dir = workspace.Resolved(path), workspace.Resolved(dir)
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return true
	}
	at, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for { // a file system may know one directory by several names, such as in capital letters
		if info, err := os.Stat(path); err == nil && os.SameFile(info, at) {
			return true
		}
		up := filepath.Dir(path)
		if up == path {
			return false
		}
		path = up
	}
}
