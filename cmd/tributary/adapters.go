package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/adapter/agentops"
	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/adapter/runner"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/toolkind"
)

// adapter is a kind of agent.
type adapter struct {
	name string
	// takes are the keys of an agent's configuration that mean something to it,
	// beside those that mean something to every agent.
	takes []string
	// inProcess says that its sessions cost no process.
	inProcess bool
	// remembers says that the agent keeps an "always" by itself.
	remembers bool
	// remote says that it is nothing without the address of a server, so that there
	// is no agent of its name unless the configuration makes one.
	remote  bool
	runtime func(config.Agent) agent.Runtime
	// decoder reads recordings; nil where the agent has no protocol of its own.
	decoder func() agent.Decoder
}

// adapters is the one map of runtimes.
func adapters() []adapter {
	process := []string{"command", "args", "env", "model", "tool_kinds"}
	return []adapter{
		{
			name: "agentops", remote: true, inProcess: true,
			takes: []string{"url", "token_env", "token_file", "lookup", "socket", "strict", "connect_timeout", "wake_limit", "max_frame", "model", "tool_kinds"},
			runtime: func(a config.Agent) agent.Runtime {
				tools := toolkind.OpenCode().With(a.ToolKinds)
				r := agentops.Runtime{
					URL: a.URL, Token: agentops.Credential{Env: a.TokenEnv, File: a.TokenFile}, PerTurn: a.Socket == config.SocketRequest,
					Strict: a.Strict != nil && *a.Strict, ConnectTime: a.ConnectTimeout, WakeTime: a.WakeLimit, MaxFrame: int64(a.MaxFrame), Tools: &tools,
				}
				switch {
				case r.Token == (agentops.Credential{}), a.Lookup == config.LookupOff:
					return r
				case a.Lookup == config.LookupEmail:
					return agentops.Roster{Runtime: r, By: agentops.UserEmail}
				}
				return agentops.Roster{Runtime: r}
			},
			decoder: func() agent.Decoder { return agentops.NewDecoder(agentops.Options{}) },
		},
		{
			name: "claude", takes: process, remembers: true,
			runtime: func(a config.Agent) agent.Runtime {
				tools := toolkind.Claude().With(a.ToolKinds)
				return claude.Runtime{Command: a.Command, Args: a.Args, Env: environ(a.Env), Tools: &tools}
			},
			decoder: func() agent.Decoder { return claude.NewDecoder(claude.Options{}) },
		},
		{
			name: "demo", takes: []string{"pace"}, inProcess: true,
			runtime: func(a config.Agent) agent.Runtime {
				if a.Pace != nil {
					return demo.Runtime{Pace: *a.Pace}
				}
				return demo.Runtime{Pace: demo.DefaultPace}
			},
		},
		{
			name: "echo", inProcess: true,
			runtime: func(config.Agent) agent.Runtime { return echo.Runtime{} },
		},
		{
			name: "runner", takes: []string{"runner_token_env", "model", "tool_kinds"}, inProcess: true,
			runtime: func(a config.Agent) agent.Runtime {
				tools := toolkind.OpenCode().With(a.ToolKinds)
				return runner.New(runner.Options{Token: os.Getenv(a.RunnerTokenEnv), Tools: &tools})
			},
		},
	}
}

func findAdapter(name string) (adapter, bool) {
	for _, a := range adapters() {
		if a.name == name {
			return a, true
		}
	}
	return adapter{}, false
}

// adapterNames lists the adapters; those that read recordings, if asked for.
func adapterNames(recordings bool) string {
	var names []string
	for _, a := range adapters() {
		if !recordings || a.decoder != nil {
			names = append(names, a.name)
		}
	}
	return strings.Join(names, ", ")
}

// adapterOf finds the adapter of a configured agent.
func adapterOf(c config.Config, name string) (adapter, error) {
	a := c.Agents[name]
	at := "agents." + name
	kind, ok := findAdapter(cmp.Or(a.Adapter, name))
	switch {
	case !ok && a.Adapter == "":
		return adapter{}, c.Fault(at, "has no adapter: write one of %s", adapterNames(false))
	case !ok:
		return adapter{}, c.Fault(at+".adapter", "is %q: write one of %s", a.Adapter, adapterNames(false))
	}
	for key, set := range map[string]bool{
		"command": a.Command != "", "args": a.Args != nil, "env": a.Env != nil,
		"model": a.Model != "", "tool_kinds": a.ToolKinds != nil, "pace": a.Pace != nil, "runner_token_env": a.RunnerTokenEnv != "",
		"url": a.URL != "", "token_env": a.TokenEnv != "", "token_file": a.TokenFile != "", "lookup": a.Lookup != "", "socket": a.Socket != "", "strict": a.Strict != nil,
		"connect_timeout": a.ConnectTimeout != 0, "wake_limit": a.WakeLimit != 0, "max_frame": a.MaxFrame != 0,
	} {
		if set && !slices.Contains(kind.takes, key) {
			return adapter{}, c.Fault(at+"."+key, "means nothing to the adapter %s: remove it", kind.name)
		}
	}
	if kind.remote && a.URL == "" {
		return adapter{}, c.Fault(at, "has no url: write the base address of its server, such as https://agents.example.com")
	}
	if name := a.RunnerTokenEnv; name != "" && len(os.Getenv(name)) < leastRunnerToken {
		return adapter{}, c.Fault(at+".runner_token_env", "names %s, which is to hold a token of at least %d characters and does not", name, leastRunnerToken)
	}
	if a.Lookup != "" && a.Lookup != config.LookupOff && a.TokenEnv == "" && a.TokenFile == "" {
		return adapter{}, c.Fault(at+".lookup", "means something only with a service token: set token_env or token_file, or remove it")
	}
	if a.TokenEnv != "" && os.Getenv(a.TokenEnv) == "" {
		return adapter{}, c.Fault(at+".token_env", "names %s, and there is no such environment variable: set it", a.TokenEnv)
	}
	return kind, nil
}

// leastRunnerToken is how long a token for runners is at least: anybody may try.
const leastRunnerToken = 16

func environ(vars map[string]string) []string {
	env := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		env = append(env, fmt.Sprintf("%s=%s", name, vars[name]))
	}
	return env
}
