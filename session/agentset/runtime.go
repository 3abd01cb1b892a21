package agentset

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/egress"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/session"
)

// Adopt completes an agent whose Runtime was made elsewhere, and returns what the Runtime tells of it. A
// Runtime without an environment for its processes gets the allowed part of ours. A Runtime that is no
// agent.Describer is taken as it is set, and counts as an agent that reads its whole workspace unasked.
func (g Gateway) Adopt(name string, s session.Agent, ours []string) (session.Agent, Agent, error) {
	a := Agent{Kind: agent.Adapter{Name: s.Adapter, InProcess: s.InProcess, Files: s.Files}, Cwd: s.Cwd, Workspace: s.Workspace, user: s.User}
	if d, is := s.Runtime.(agent.Describer); is {
		a.Kind, a.Settings = d.Describe()
	}
	a.Settings.Name = name
	a = a.known()
	for _, kv := range a.Settings.Environ {
		if v, _, _ := strings.Cut(kv, "="); g.secret(v) {
			return s, a, a.refuse("", "hands the variable %s to its processes, which holds a secret of the gateway: an agent must not have it", v)
		}
	}
	var err error
	if r, is := s.Runtime.(agent.ProcessStarter); is {
		a, err = g.process(a, ours)
		made := r.WithProcess(a.Settings)
		if reflect.TypeOf(made) != reflect.TypeOf(s.Runtime) {
			return s, a, a.refuse("", "has a Runtime that wraps another, whose WithProcess would lose it: give %T a method WithProcess of its own", s.Runtime)
		}
		s.Runtime = made
	}
	if err = cmp.Or(err, a.asks()); err == nil {
		s, err = g.complete(a, s)
	}
	return s, a, err
}

// complete fills in what an agent's kind says of it.
func (g Gateway) complete(a Agent, s session.Agent) (session.Agent, error) {
	if reflect.ValueOf(s.Tools).IsZero() {
		s.Tools = a.tools()
	}
	s.Tools = s.Tools.With(a.Settings.ToolKinds)
	s.Adapter, s.InProcess = cmp.Or(a.preset.Name, a.Kind.Name), a.Kind.InProcess
	if s.State == "" && !a.Kind.InProcess && a.Settings.URL == "" {
		s.State = session.StateNode
	}
	s.Files = a.Kind.Files && (a.Settings.URL == "" || a.Kind.Needs == "url") && (!a.Kind.Harmless || !a.Shared)
	if !a.Kind.Harmless { // those start nothing
		var err error
		if s.Box, err = g.BoxSetting(a, s.Box); err != nil {
			return s, err
		}
	}
	switch {
	case s.User == nil:
	case a.Kind.Harmless:
		return s, a.refuse("user", "is %s, and this agent starts no programs: remove it", s.User.Name)
	case s.Workspace.Own():
		return s, a.refuse("workspace", "is %s, and the gateway cannot make workspaces of its own for the user %s: write workspace: shared, or let it run as the gateway's user", s.Workspace, s.User.Name)
	}
	if s.Egress != nil && (a.Kind.Harmless || a.Settings.URL != "" && !a.Kind.InProcess) {
		return s, a.refuse("egress", "limits what processes reach that the gateway starts, and this agent has none: remove it")
	}
	if s.EgressAsk && s.Egress == nil {
		return s, a.refuse("egress_ask", "means something only with egress: write egress, if only []")
	}
	if _, err := egress.Parse(s.Egress); err != nil {
		return s, a.refuse("egress", "%v", err)
	}
	if s.Workspace.Own() && !s.Files {
		return s, a.refuse("workspace", "is %s, which only an agent can have that works with the files of a directory on this machine: remove it, or set cwd", s.Workspace)
	}
	return s, nil
}

// tools is the table of the agent's tools, by which a policy judges.
func (a Agent) tools() toolkind.Table {
	if a.Kind.Tools != nil {
		return a.Kind.Tools(a.preset.Name)
	}
	tools, known := toolkind.For(a.preset.Name)
	if !known {
		tools, _ = toolkind.For(a.Kind.Name)
	}
	return tools
}

// asks refuses an agent that acts without asking, unless that is allowed.
func (a Agent) asks() error {
	switch {
	case a.AllowBypass:
	case a.bypass() != "":
		return a.refuse("", "has %s, by which the agent acts without asking: remove it and write a policy, or set allow_bypass: true", a.bypass())
	case a.preset.AsksNobody:
		return a.refuse("", "runs the agent %s, which has no permission requests and runs every command unasked: set allow_bypass: true if that is meant", a.preset.Name)
	}
	return nil
}

// bypass is the argument or variable that switches the agent's permission requests off, or "".
func (a Agent) bypass() string {
	return bypass(slices.Concat(bypasses(), a.Kind.Bypass), a.Settings.Command, a.Settings.Args, a.Settings.Environ)
}
