package tributary

import (
	"cmp"
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
	g, made, ours := o.agents(here), map[string]session.Agent{}, os.Environ()
	known := map[string]agentset.Agent{}
	for name, s := range o.Sessions.Agents {
		s.Cwd = cmp.Or(s.Cwd, here)
		if made[name], known[name], err = g.Adopt(name, s, ours); err != nil {
			return err
		}
	}
	for name, a := range o.Agents {
		a.Settings.Name, a.Shared, a.Cwd = name, a.Cwd == "", cmp.Or(a.Cwd, here)
		if made[name], known[name], err = g.Make(a, ours); err != nil {
			return err
		}
	}
	if err := g.WorkspacesApart(made); err != nil {
		return err
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

// agents is what the gateway keeps from its agents, with what the agents say of each other's secrets.
func (o *Options) agents(here string) agentset.Gateway {
	absolute := func(path string) string {
		if path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(here, path)
	}
	g := agentset.Gateway{
		Data: absolute(o.Dir), SecretEnv: slices.Concat(o.SecretEnv, agentset.DatabaseVariables(o.DB)),
		SecretFiles: slices.Concat(o.Sessions.Closed, agentset.DatabaseFiles(o.DB)),
		DataSetting: "Dir", CwdSetting: "Cwd",
	}
	if o.Sessions.Workspaces != nil {
		g.Workspaces = o.Sessions.Workspaces.Dir()
	}
	settings := []agent.Settings{}
	for _, s := range o.Sessions.Agents {
		if d, is := s.Runtime.(agent.Describer); is {
			_, said := d.Describe()
			settings = append(settings, said)
		}
	}
	for _, a := range o.Agents {
		settings = append(settings, a.Settings)
	}
	for _, s := range settings {
		if s.TokenEnv != "" {
			g.SecretEnv = append(g.SecretEnv, s.TokenEnv)
		}
		if s.TokenFile != "" {
			g.SecretFiles = append(g.SecretFiles, s.TokenFile)
		}
	}
	for i, path := range g.SecretFiles {
		g.SecretFiles[i] = absolute(path)
	}
	return g
}
