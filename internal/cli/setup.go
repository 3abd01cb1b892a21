package cli

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/config"
)

// The defaults of an empty configuration.
const (
	defaultListen = "127.0.0.1:8787"
	defaultAgent  = "demo"
)

// setup is a configuration with the flags on top, and the adapters that it may name.
type setup struct {
	config.Config
	kinds  catalog
	named  map[string]config.Agent // all agents of the file, also those that are not offered
	people people
}

// flags are what the command line says on top of the file.
type flags struct {
	agent, cwd string
	listen     string
	auth       string
	// alone says that one person uses the program, at a terminal.
	alone bool
}

// load reads the configuration and puts the flags on top. Afterwards the map of agents is
// complete: it holds every agent that is offered, with its adapter, as far as the configuration says;
// see countTokens.
func load(kinds catalog, file string, f flags) (setup, error) {
	c, err := config.Load(file)
	s := setup{Config: c, kinds: kinds, named: maps.Clone(c.Agents)}
	if err != nil {
		return s, err
	}
	if s.Cwd, err = directory("--cwd", cmp.Or(f.cwd, c.Cwd, ".")); err != nil {
		return s, err
	}
	s.Listen = cmp.Or(f.listen, c.Listen, defaultListen)
	s.Auth.Mode = cmp.Or(access.Mode(f.auth), c.Auth.Mode)
	s.people = peopleOf(s.Config, false)
	s.offer(f.alone || s.people == oneHere)
	return s, s.choose(f.agent)
}

// offer makes the map of agents. Without a section agents each adapter is an agent by its
// own name. A gateway for several people offers an agent that acts on this machine only if
// the configuration names the agent.
func (s *setup) offer(alone bool) {
	if s.Agents == nil {
		s.Agents = map[string]config.Agent{}
		for _, a := range s.kinds {
			if a.Needs == "" && (a.Harmless || alone) {
				s.Agents[a.Name] = config.Agent{}
			}
		}
		return
	}
	maps.DeleteFunc(s.Agents, func(_ string, a config.Agent) bool { return a.Enabled != nil && !*a.Enabled })
}

// checkSecrets refuses files with secrets that cannot be read. Those of agents that are not offered do not
// matter.
func (s *setup) checkSecrets() error {
	c := s.Config
	c.Agents = s.Agents
	return c.CheckSecrets()
}

// choose finds the agent of sessions that name none, if there is one: see chosen.
func (s *setup) choose(named string) error {
	if _, ok := s.Agents[named]; named != "" && !ok {
		if kind, _, known := s.kinds.find(named); known && !kind.Harmless {
			return usage("the agent %s runs commands on this machine, and the configuration does not offer it: write `agents: {%s: {}}` into it; there are %s", named, named, s.agentNames())
		}
		return usage("there is no agent %q: there are %s", named, s.agentNames())
	}
	_, demo := s.Agents[defaultAgent]
	switch {
	case len(s.Agents) == 0:
		return s.Fault("agents", "offers none: name at least one agent, such as demo")
	case named != "":
		s.DefaultAgent = named
	case s.DefaultAgent != "":
	case demo:
		s.DefaultAgent = defaultAgent
	case len(s.Agents) == 1:
		s.DefaultAgent = s.agentNames()
	}
	if _, ok := s.Agents[s.DefaultAgent]; s.DefaultAgent != "" && !ok {
		return s.Fault("default_agent", "is %q, which is no agent: there are %s", s.DefaultAgent, s.agentNames())
	}
	return nil
}

// chosen refuses a configuration of several agents without a default, for commands that
// serve sessions.
func (s *setup) chosen() error {
	if s.DefaultAgent == "" {
		return s.Fault("default_agent", "is missing, and there are several agents: write one of %s", s.agentNames())
	}
	return nil
}

func (s *setup) agentNames() string {
	return strings.Join(slices.Sorted(maps.Keys(s.Agents)), ", ")
}

// adapterOf finds the adapter of a configured agent, and refuses settings that it does
// not take.
func (s *setup) adapterOf(name string) (agent.Adapter, agent.Preset, error) {
	a := s.Agents[name]
	at := "agents." + name
	kind, preset, ok := s.kinds.find(cmp.Or(a.Adapter, name))
	switch {
	case !ok && a.Adapter == "":
		return kind, preset, s.Fault(at, "has no adapter: write one of %s", s.kinds.names())
	case !ok:
		return kind, preset, s.Fault(at+".adapter", "is %q: write one of %s", a.Adapter, s.kinds.names())
	}
	set := map[string]bool{
		"command": a.Command != "", "args": a.Args != nil, "env": a.Env != nil, "pass_env": a.PassEnv != nil, "allow_bypass": a.AllowBypass,
		"model": a.Model != "", "tool_kinds": a.ToolKinds != nil, "options": a.Options != nil,
		"url": a.URL != "", "token_env": a.TokenEnv != "", "token_file": a.TokenFile != "",
	}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if set[key] && !slices.Contains(kind.Keys, key) {
			return kind, preset, s.Fault(at+"."+key, "means nothing to the adapter %s: remove it", kind.Name)
		}
	}
	needed := func(key string) bool { return set[key] || key == "command" && preset.Command != "" }
	switch {
	case slices.ContainsFunc(strings.Split(kind.Needs, " or "), needed):
	case kind.Needs == "url":
		return kind, preset, s.Fault(at, "has no url: write the base address of its server, such as https://agents.example.com")
	case kind.Needs != "":
		return kind, preset, s.Fault(at, "has no %s, and the adapter %s needs one: write it", kind.Needs, kind.Name)
	}
	return kind, preset, nil
}

// directory makes a path absolute and checks that it is a directory.
func directory(what, path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the current directory: %w", err)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", usage("%s: %s is not a directory: name one that exists", what, path)
	}
	return path, nil
}
