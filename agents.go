package tributary

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/session/agentset"
)

// settle makes and completes the agents. It refuses what the program refuses at its start, and changes
// nothing on the disk.
func (o *Options) settle() error {
	here, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the current directory: %w", err)
	}
	g, ours := o.secrets(here), os.Environ()
	made, known := map[string]session.Agent{}, map[string]agentset.Agent{}
	for name, s := range o.Sessions.Agents {
		s.Cwd = below(here, s.Cwd)
		if made[name], known[name], err = g.Adopt(name, s, ours); err != nil {
			return err //nolint:wrapcheck // a sentence
		}
	}
	for name, a := range o.Agents {
		if _, twice := made[name]; twice {
			return fmt.Errorf("the agent %s stands in Agents and in Sessions.Agents: remove one of them", name)
		}
		a.Settings.Name, a.Shared, a.Cwd = name, a.Cwd == "", below(here, a.Cwd)
		if made[name], known[name], err = g.Make(a, ours); err != nil {
			return err //nolint:wrapcheck // a sentence
		}
	}
	if err := g.WorkspacesApart(made); err != nil {
		return err //nolint:wrapcheck // a sentence
	}
	for _, name := range slices.Sorted(maps.Keys(made)) {
		if conflict := g.Apart(known[name]); conflict != nil {
			return conflict
		}
		for _, warning := range g.Warnings(known[name]) {
			o.Logger.Warn("an agent is not under the gateway's policy alone", "agent", name, "why", warning)
		}
	}
	o.Sessions.Agents = made
	o.Sessions = g.Complete(o.Sessions)
	return nil
}

// secrets are what the gateway keeps from its agents: the server's secrets, and those of the agents.
func (o *Options) secrets(here string) agentset.Gateway {
	g := agentset.Gateway{
		SecretEnv:   slices.Concat(o.SecretEnv, agentset.DatabaseVariables(o.DB)),
		SecretFiles: slices.Concat(o.Sessions.Closed, agentset.DatabaseFiles(o.DB)),
		DataSetting: "Dir", CwdSetting: "Cwd",
	}
	if o.Dir != "" {
		g.Data = below(here, o.Dir)
	}
	if o.Sessions.Workspaces != nil {
		g.Workspaces = o.Sessions.Workspaces.Dir()
	}
	add := func(s agent.Settings) {
		g.SecretEnv, g.SecretFiles = append(g.SecretEnv, s.TokenEnv), append(g.SecretFiles, s.TokenFile)
		agentset.EachOption(s.Options, "_env", func(_, name string) { g.SecretEnv = append(g.SecretEnv, name) })
		agentset.EachOption(s.Options, "_file", func(_, path string) { g.SecretFiles = append(g.SecretFiles, path) })
	}
	for _, s := range o.Sessions.Agents {
		if d, is := s.Runtime.(agent.Describer); is {
			_, said := d.Describe()
			add(said)
		}
	}
	for _, a := range o.Agents {
		add(a.Settings)
	}
	g.SecretFiles = slices.DeleteFunc(g.SecretFiles, func(path string) bool { return path == "" })
	for i, path := range g.SecretFiles {
		g.SecretFiles[i] = below(here, path)
	}
	return g
}

// below makes a path absolute.
func below(here, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(here, path)
}
