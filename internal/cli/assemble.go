package cli

import (
	"errors"
	"log/slog"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/gateway/limit"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/session/agentset"
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

// gateway is what the configuration keeps from agents. The files of agents that are not offered hold
// secrets all the same.
func (s *setup) gateway() agentset.Gateway {
	every := s.Config
	every.Agents = s.named
	data, err := dataDir(s.Data)
	if err != nil {
		data = "" // without a home directory there is no default
	}
	return agentset.Gateway{
		Data: data, SecretEnv: every.SecretVariables(), SecretFiles: every.SecretFiles(), Closed: every.ClosedFiles(),
		Alone: s.people == oneHere, DataSetting: "--data", CwdSetting: "--cwd",
	}
}

// said is what the configuration says of one agent.
func (s *setup) said(name string) (agentset.Agent, error) {
	c, at := s.Agents[name], "agents."+name
	kind, preset, err := s.adapterOf(name)
	if err != nil {
		return agentset.Agent{}, err
	}
	a := agentset.Agent{
		Kind: kind, Env: c.Env, PassEnv: c.PassEnv, AllowBypass: c.AllowBypass, Cwd: s.Cwd, Shared: c.Cwd == "", Policy: c.Policy, Workspace: c.Workspace, Box: c.Box, User: s.userOf(c, kind), Egress: c.Egress, EgressAsk: c.EgressAsk, State: c.State,
		Settings: agent.Settings{
			Name: name, Preset: preset.Name, Command: c.Command, Args: c.Args,
			Model: c.Model, ToolKinds: c.ToolKinds, URL: c.URL, TokenEnv: c.TokenEnv, TokenFile: c.TokenFile, Options: c.Options,
		},
	}
	if !a.Shared {
		a.Cwd, err = directory(at+".cwd", c.Cwd)
	}
	return a, err
}

// userOf names the user as whom the processes of an agent run. An agent without processes has none.
func (s *setup) userOf(c config.Agent, kind agent.Adapter) string {
	if c.User == "" && (!kind.Harmless || c.Command != "") {
		return s.AgentUser
	}
	return c.User
}

// settle finds the settings of one agent.
func (s *setup) settle(name string) (agentset.Agent, error) {
	a, err := s.said(name)
	if err == nil {
		a, err = s.gateway().Settle(a, os.Environ())
	}
	return a, s.faultOf(err)
}

// agent makes one agent.
func (s *setup) agent(name string) (made session.Agent, err error) {
	a, err := s.said(name)
	if err == nil {
		made, _, err = s.gateway().Make(a, os.Environ())
	}
	return made, s.faultOf(err)
}

// faultOf finds the line of the configuration that an error is about.
func (s *setup) faultOf(err error) error {
	if wrong, is := errors.AsType[*agentset.Refusal](err); is {
		at := wrong.At()
		if wrong.Key == "user" && s.Agents[wrong.Agent].User == "" {
			at = "agent_user"
		}
		return s.Fault(at, "%s", wrong.Sentence)
	}
	return err
}

// sessionOptions are the rules of the hub, but for its log.
func (s *setup) sessionOptions(logger *slog.Logger) (session.Options, error) {
	all, err := s.agents()
	return s.hubOf(all, logger), err
}

// hubOf is sessionOptions for a hub of these agents.
func (s *setup) hubOf(agents map[string]session.Agent, logger *slog.Logger) session.Options {
	rules := s.Sessions
	return s.gateway().Complete(session.Options{
		Agents: agents, Default: s.DefaultAgent,
		Approval: rules.Approval, HoldLimit: rules.HoldLimit, AnswerLimit: rules.AnswerLimit,
		OnDisconnect: rules.OnDisconnect, Busy: rules.Busy, GracePeriod: rules.Grace, GraceLimit: rules.GraceLimit,
		IdleLimit: rules.IdleLimit, StopPatience: rules.StopPatience, AgentIdle: rules.AgentIdle, EvictAfter: rules.EvictAfter,
		MaxAgents: rules.MaxAgents, AgentShare: s.agentShare(), MaxQueue: rules.MaxQueue, Replay: rules.Replay,
		MaxPrompts: int(s.Limits.Prompts), MaxTurnBytes: int64(s.Limits.TurnBytes), MaxTurnRecords: int(s.Limits.TurnRecords),
		Timing: slices.ContainsFunc(slices.Collect(maps.Values(s.Exporters)), func(e config.Exporter) bool { return e.Gateway }),
		Logger: logger,
	})
}

// agentShare is how many agents one person may have open. The only person may open all.
func (s *setup) agentShare() int {
	if s.Sessions.AgentShare == 0 && s.people == oneHere {
		return math.MaxInt32
	}
	return s.Sessions.AgentShare
}

func streamOptions(s config.Stream) uistream.Options {
	profile, _ := uistream.ParseProfile(s.Client)           // config has checked it
	domain, _ := uistream.ParseDomainEvents(s.DomainEvents) // and this
	o := uistream.Options{Profile: profile, RFC: s.Compat == config.CompatRFC, Domain: domain}
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

func gatewayLimits(l config.Limits) limit.Options {
	return limit.Options{
		Memory:   agentset.MemoryShare(),
		Requests: int(l.Requests), Burst: int(l.Burst), Streams: int(l.Streams), Clients: int(l.Clients),
	}
}

func timing(s config.Stream) uistream.Timing {
	return uistream.Timing{Keepalive: s.Keepalive, Write: s.WriteTimeout}
}

func framing(s config.Stream) uistream.Framing {
	return uistream.Framing{NoEvents: s.EventLines != nil && !*s.EventLines}
}
