package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/natslog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/permission"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/toolkind"
	"github.com/tributary-dev/tributary/uistream"
)

// What a configuration that says nothing means.
const (
	defaultListen = "127.0.0.1:8787"
	defaultAgent  = "demo"
)

// load reads the configuration and puts what every command has in common on top.
func load(file, agent, cwd string) (config.Config, error) {
	c, err := config.Load(file)
	if err != nil {
		return c, err
	}
	if c.Agents == nil {
		c.Agents = map[string]config.Agent{}
	}
	for _, a := range adapters() { // each adapter's own name is an agent, unless the file says otherwise
		if _, ok := c.Agents[a.name]; !ok && !a.remote {
			c.Agents[a.name] = config.Agent{Adapter: a.name}
		}
	}
	if c.Cwd, err = directory("--cwd", cmp.Or(cwd, c.Cwd, ".")); err != nil {
		return c, err
	}
	if agent != "" {
		if _, ok := c.Agents[agent]; !ok {
			return c, usage("there is no agent %q: there are %s", agent, agentNames(c))
		}
		c.DefaultAgent = agent
	}
	c.DefaultAgent = cmp.Or(c.DefaultAgent, defaultAgent)
	if _, ok := c.Agents[c.DefaultAgent]; !ok {
		return c, c.Fault("default_agent", "is %q, which is no agent: there are %s", c.DefaultAgent, agentNames(c))
	}
	return c, nil
}

func agentNames(c config.Config) string {
	return strings.Join(slices.Sorted(maps.Keys(c.Agents)), ", ")
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

// agents makes the agents of a configuration.
func agents(c config.Config) (map[string]session.Agent, error) {
	all := map[string]session.Agent{}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		a := c.Agents[name]
		kind, err := adapterOf(c, name)
		if err != nil {
			return nil, err
		}
		cwd := c.Cwd
		if a.Cwd != "" {
			if cwd, err = directory("agents."+name+".cwd", a.Cwd); err != nil {
				return nil, err
			}
		}
		policy := permission.Default()
		if a.Policy != nil {
			policy = *a.Policy
		}
		tools, _ := toolkind.For(kind.name)
		all[name] = session.Agent{
			Runtime: kind.runtime(a), Cwd: cwd, Model: a.Model, Policy: policy, Tools: tools.With(a.ToolKinds), InProcess: kind.inProcess, Remembers: kind.remembers,
		}
	}
	return all, nil
}

// sessionOptions are the rules of the hub, but for its log.
func sessionOptions(c config.Config, logger *slog.Logger) (session.Options, error) {
	all, err := agents(c)
	if err != nil {
		return session.Options{}, err
	}
	s := c.Sessions
	return session.Options{
		Agents: all, Default: c.DefaultAgent,
		Approval: s.Approval, HoldLimit: s.HoldLimit, AskLimit: s.AskLimit,
		OnDisconnect: s.OnDisconnect, Busy: s.Busy, GracePeriod: s.Grace, GraceLimit: s.GraceLimit,
		IdleLimit: s.IdleLimit, StopPatience: s.StopPatience, AgentIdle: s.AgentIdle, Retire: s.Retire,
		MaxAgents: s.MaxAgents, MaxQueue: s.MaxQueue, Replay: s.Replay,
		MaxPrompts: int(c.Limits.Prompts), MaxTurnBytes: int64(c.Limits.TurnBytes), MaxTurnRecords: int(c.Limits.TurnRecords),
		Logger: logger,
	}, nil
}

func logOptions(c config.Config, logger *slog.Logger) natslog.Options {
	o := natslog.Options{Dir: c.Data, Fsync: time.Duration(c.Fsync), Logger: logger}
	if c.NATS != "" {
		o.Dir, o.URL = "", c.NATS
	}
	return o
}

func streamOptions(s config.Stream) uistream.Options {
	profile, _ := uistream.ParseProfile(s.Client)           // config has checked it
	domain, _ := uistream.ParseDomainEvents(s.DomainEvents) // and this
	o := uistream.Options{Profile: profile, Letter: s.Letter == config.LetterRFC, Domain: domain}
	switch s.Subagents {
	case config.SubagentsInline:
		o.Subagents = uistream.SubagentsInline
	case config.SubagentsHidden:
		o.Subagents = uistream.SubagentsHidden
	case config.SubagentsPart:
	}
	return o
}

func gatewayLimits(l config.Limits) gateway.Limits {
	return gateway.Limits{Requests: int(l.Requests), Burst: int(l.Burst), Streams: int(l.Streams), Clients: int(l.Clients)}
}

func timing(s config.Stream) uistream.Timing {
	return uistream.Timing{Keepalive: s.Keepalive, Write: s.WriteTimeout}
}

func framing(s config.Stream, log *eventlog.Log) uistream.Framing {
	return uistream.Framing{
		NoEvents: s.EventLines != nil && !*s.EventLines,
		Cursor:   func(_ string, seq uint64) string { return fmt.Sprintf("%s-%d", log.Epoch(), seq) },
	}
}
