package cli

import (
	"cmp"
	"errors"
	"log/slog"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/gateway/limit"
	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/session"
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

// made holds the settings from which an agent is made.
type made struct {
	kind     agent.Adapter
	preset   agent.Preset
	settings agent.Settings
	cwd      string
	// bypass is the argument or variable that switches its permission requests off, or "".
	bypass string
}

// settle finds the settings of one agent.
func (s *setup) settle(name string) (m made, err error) {
	a, at := s.Agents[name], "agents."+name
	if m.kind, m.preset, err = s.adapterOf(name); err != nil {
		return m, err
	}
	m.cwd = s.Cwd
	if a.Cwd != "" {
		if m.cwd, err = directory(at+".cwd", a.Cwd); err != nil {
			return m, err
		}
	}
	env, err := s.environ(name, m.kind, m.preset, os.Environ())
	if err != nil {
		return m, err
	}
	m.settings = agent.Settings{
		Name: name, Preset: m.preset.Name, Command: cmp.Or(a.Command, m.preset.Command), Args: slices.Concat(m.preset.Args, a.Args), Environ: env,
		Model: a.Model, ToolKinds: a.ToolKinds, URL: a.URL, TokenEnv: a.TokenEnv, TokenFile: a.TokenFile, Options: a.Options,
	}
	m.bypass = bypass(slices.Concat(bypasses(), m.kind.Bypass), m.settings.Command, m.settings.Args, env)
	return m, nil
}

// agent makes one agent.
func (s *setup) agent(name string) (session.Agent, error) {
	a, at := s.Agents[name], "agents."+name
	m, err := s.settle(name)
	if err != nil {
		return session.Agent{}, err
	}
	if m.bypass != "" && !a.AllowBypass {
		return session.Agent{}, s.Fault(at, "has %s, by which the agent acts without asking: remove it and write a policy, or set allow_bypass: true", m.bypass)
	}
	if m.preset.AsksNobody && !a.AllowBypass {
		return session.Agent{}, s.Fault(at, "runs the agent %s, which has no permission requests and runs every command unasked: set allow_bypass: true if that is meant", m.preset.Name)
	}
	runtime, err := m.kind.Make(m.settings)
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
	made := session.Agent{
		Workspace: a.Workspace,
		Runtime:   runtime, Adapter: cmp.Or(m.preset.Name, m.kind.Name), Cwd: m.cwd, Model: a.Model, Options: a.Options, Policy: policy, Tools: tableOf(m).With(a.ToolKinds), InProcess: m.kind.InProcess, Remembers: m.kind.Remembers,
		Files: m.kind.Files && (a.URL == "" || m.kind.Needs == "url") && (!m.kind.Harmless || a.Cwd != ""),
	}
	if made.Box = a.Box; !m.kind.Harmless { // those start nothing
		made.Box.Form = cmp.Or(a.Box.Form, box.Guard)
	}
	if a.Workspace.Own() && !made.Files {
		return session.Agent{}, s.Fault(at+".workspace", "is %s, which only an agent can have that works with the files of a directory on this machine: remove it, or set cwd", a.Workspace)
	}
	return made, nil
}

// tableOf returns the table of an agent's tools.
func tableOf(m made) toolkind.Table {
	if m.kind.Tools != nil {
		return m.kind.Tools(m.preset.Name)
	}
	tools, known := toolkind.For(m.preset.Name)
	if !known {
		tools, _ = toolkind.For(m.kind.Name)
	}
	return tools
}

// sessionOptions are the rules of the hub, but for its log.
func (s *setup) sessionOptions(logger *slog.Logger) (session.Options, error) {
	all, err := s.agents()
	return s.hubOf(all, logger), err
}

// hubOf is sessionOptions for a hub of these agents.
func (s *setup) hubOf(agents map[string]session.Agent, logger *slog.Logger) session.Options {
	rules := s.Sessions
	return session.Options{
		Agents: agents, Default: s.DefaultAgent, Closed: s.closed(),
		Approval: rules.Approval, HoldLimit: rules.HoldLimit, AnswerLimit: rules.AnswerLimit,
		OnDisconnect: rules.OnDisconnect, Busy: rules.Busy, GracePeriod: rules.Grace, GraceLimit: rules.GraceLimit,
		IdleLimit: rules.IdleLimit, StopPatience: rules.StopPatience, AgentIdle: rules.AgentIdle, EvictAfter: rules.EvictAfter,
		MaxAgents: rules.MaxAgents, AgentShare: s.agentShare(), MaxQueue: rules.MaxQueue, Replay: rules.Replay,
		MaxPrompts: int(s.Limits.Prompts), MaxPromptBytes: memoryShare(memory()), MaxHeldBytes: memoryShare(memory()), MaxTurnBytes: int64(s.Limits.TurnBytes), MaxTurnRecords: int(s.Limits.TurnRecords),
		Timing: slices.ContainsFunc(slices.Collect(maps.Values(s.Exporters)), func(e config.Exporter) bool { return e.Gateway }),
		Logger: logger,
	}
}

// closed are the files and directories that no agent may read or write: the data directory, the
// configuration, and the files with secrets that it names.
func (s *setup) closed() []string {
	all := s.everyAgent().ClosedFiles()
	if dir, err := dataDir(s.Data); err == nil { // without a home directory there is no default
		all = append(all, dir)
	}
	return all
}

// boxRule is the box around the programs of an agent outside of a gateway. The reason says why it is
// not the one of the setting.
func (s *setup) boxRule(a session.Agent) (rule box.Rule, reason string, err error) {
	form, reason, err := a.Box.Settled()
	return box.Rule{Form: form, Closed: s.closed(), Read: a.Box.Read, Write: a.Box.Write}, reason, err
}

// agentShare is how many agents one person may have open. The only person may open all.
func (s *setup) agentShare() int {
	if s.Sessions.AgentShare == 0 && s.onePerson() {
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
		Memory:   memoryShare(memory()),
		Requests: int(l.Requests), Burst: int(l.Burst), Streams: int(l.Streams), Clients: int(l.Clients),
	}
}

func timing(s config.Stream) uistream.Timing {
	return uistream.Timing{Keepalive: s.Keepalive, Write: s.WriteTimeout}
}

func framing(s config.Stream) uistream.Framing {
	return uistream.Framing{NoEvents: s.EventLines != nil && !*s.EventLines}
}
