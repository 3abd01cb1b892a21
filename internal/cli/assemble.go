package cli

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/natslog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/permission"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/toolkind"
	"github.com/tributary-dev/tributary/uistream"
)

// agents makes the agents of a configuration.
func (s *setup) agents() (map[string]session.Agent, error) {
	all := map[string]session.Agent{}
	for _, name := range slices.Sorted(maps.Keys(s.Agents)) {
		made, err := s.agent(name)
		if err != nil {
			return nil, err
		}
		all[name] = made
	}
	return all, nil
}

// agent makes one agent.
func (s *setup) agent(name string) (session.Agent, error) {
	a, at := s.Agents[name], "agents."+name
	kind, preset, err := s.adapterOf(name)
	if err != nil {
		return session.Agent{}, err
	}
	cwd := s.Cwd
	if a.Cwd != "" {
		if cwd, err = directory(at+".cwd", a.Cwd); err != nil {
			return session.Agent{}, err
		}
	}
	env, err := s.environ(name, kind, preset, os.Environ())
	if err != nil {
		return session.Agent{}, err
	}
	runtime, err := kind.New(agent.Settings{
		Name: name, Preset: preset.Name, Command: cmp.Or(a.Command, preset.Command), Args: slices.Concat(preset.Args, a.Args), Environ: env,
		Model: a.Model, ToolKinds: a.ToolKinds, URL: a.URL, TokenEnv: a.TokenEnv, TokenFile: a.TokenFile, Options: a.Options,
	})
	if wrong, ok := errors.AsType[*agent.SettingError](err); ok {
		return session.Agent{}, s.Fault(at+"."+wrong.Key, "%s", wrong.Sentence)
	}
	if err != nil {
		return session.Agent{}, s.Fault(at, "cannot be made: %v", err)
	}
	policy := permission.Default()
	if a.Policy != nil {
		policy = *a.Policy
	}
	tools, known := toolkind.For(preset.Name)
	if !known {
		tools, _ = toolkind.For(kind.Name)
	}
	return session.Agent{
		Runtime: runtime, Cwd: cwd, Model: a.Model, Options: a.Options, Policy: policy, Tools: tools.With(a.ToolKinds), InProcess: kind.InProcess,
	}, nil
}

// sessionOptions are the rules of the hub, but for its log.
func (c *setup) sessionOptions(logger *slog.Logger) (session.Options, error) {
	all, err := c.agents()
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
	case config.SubagentsPreliminary:
		o.Subagents = uistream.SubagentsPreliminary
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
