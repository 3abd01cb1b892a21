package cli

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"slices"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/policy/workspace/spaces"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/session/agentset"
)

// apart refuses workspaces that hold what their agents must not have. An agent that neither the
// configuration nor --agent names is not offered then, so that a first start in the home directory succeeds.
func (s *setup) apart(agents map[string]session.Agent, logger *slog.Logger) error {
	g := s.gateway()
	g.Workspaces = s.workspacesDir(agents)
	if err := g.WorkspacesApart(agents); err != nil {
		if _, is := errors.AsType[*agentset.Refusal](err); is {
			return s.faultOf(err)
		}
		return usage("%w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		a, err := s.settle(name)
		if err != nil {
			return err
		}
		conflict := g.Apart(a)
		_, named := s.named[name]
		switch {
		case conflict == nil:
		case named || name == s.DefaultAgent:
			return usage("%w", conflict)
		default:
			delete(agents, name)
			delete(s.Agents, name)
			logger.Warn("an agent is not offered, because "+conflict.LeftOut, "agent", name, "workspace", a.Cwd, "data", s.Data)
		}
	}
	return nil
}

// warnings are sentences about what lets an agent act without asking the people whom it should ask.
func (s *setup) warnings(name string) []string {
	a, err := s.settle(name)
	if err != nil {
		return nil
	}
	all := s.gateway().Warnings(a)
	local := a.Settings.URL == "" || a.Kind.InProcess
	if a.Kind.Harmless || !local || s.people != severalPeople {
		return all
	}
	if a.User != "" {
		return append(all, "it runs as the user "+a.User+" for everybody: a command that somebody approves can read and change the workspace and the home of that user, where the agent keeps the conversations of other people too")
	}
	in, err := s.gateway().BoxSetting(a, a.Box)
	if err != nil {
		return all
	}
	in.Required = false // the start says what is wrong then
	form, _, _ := in.Settled()
	reach := map[box.Form]string{
		box.Off:    "can read and change all that the gateway's user can, the gateway's token and the files of other people's sessions too",
		box.Guard:  "can read and change all files of the gateway's user but the gateway's own, and end the gateway: box: {form: strict} closes that",
		box.Strict: "can change the agent's workspace and its settings, which its other sessions have too",
	}[form]
	switch many := slices.ContainsFunc(s.Auth.Approver, forMany); {
	case many && form == box.Off:
		all = append(all, "every collaborator may approve its commands, each of which "+reach+". So every collaborator owns the gateway: name a role or a group of approvers in auth.approver")
	case many:
		all = append(all, "every collaborator may approve its commands, each of which "+reach+". Name a role or a group of approvers in auth.approver")
	case form != box.Strict:
		all = append(all, "it runs as the gateway's user, and several people use the gateway: a command that somebody approves "+reach)
	}
	return all
}

// forMany reports whether the people named are more than the admins or a group.
func forMany(who access.Who) bool { return who.Group == "" && who.Role != access.Admin }

// workspacesDir is the directory for workspaces; "" if the sessions of no agent have their own.
func (s *setup) workspacesDir(agents map[string]session.Agent) string {
	for _, a := range agents {
		if a.Workspace.Own() {
			return cmp.Or(s.Workspaces, s.Data+"-workspaces")
		}
	}
	return ""
}

// openWorkspaces opens the directory. Sessions that have workspaces keep them when the configuration
// gives new sessions none any more.
func (s *setup) openWorkspaces(ctx context.Context, agents map[string]session.Agent) (*spaces.Maker, error) {
	dir := s.workspacesDir(agents)
	if dir == "" {
		dir = cmp.Or(s.Workspaces, s.Data+"-workspaces")
		if _, err := os.Stat(dir); err != nil {
			return nil, nil //nolint:nilnil,nilerr // no session has one
		}
	}
	return spaces.Open(ctx, dir)
}
