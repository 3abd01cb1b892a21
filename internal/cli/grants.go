package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agent"
)

// maxGrants bounds what is read of an agent's own settings.
const maxGrants = 1 << 20

// grants lists the files of an agent's own whose rules let it act without asking the
// gateway. The gateway cannot overrule these rules, and so it warns of them.
func grants(kind agent.Adapter, preset agent.Preset, cwd string, env []string) []string {
	var found []string
	for _, g := range slices.Concat(kind.Grants, preset.Grants) {
		path := filepath.Join(cwd, g.Path)
		if below, ok := strings.CutPrefix(g.Path, "~/"); ok {
			path = filepath.Join(variable(env, "HOME"), below)
		}
		rule, err := regexp.Compile(g.Pattern)
		if err != nil {
			continue
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxGrants {
			continue
		}
		if data, err := os.ReadFile(path); err == nil && rule.Match(data) {
			found = append(found, path)
		}
	}
	return found
}

// variable is the last value of a name in an environment.
func variable(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// forMany reports whether the people named are more than the admins or a group.
func forMany(who access.Who) bool { return who.Group == "" && who.Role != access.Admin }

// confined reports whether the setting of an agent keeps its process from what the gateway's user
// can reach. No setting does.
func (s *setup) confined(string) bool { return false }

// warnings are sentences about rules by which an agent acts without asking the gateway.
func (s *setup) warnings(name string) []string {
	m, err := s.settle(name)
	if err != nil {
		return nil
	}
	var all []string
	if m.preset.AsksNobody {
		all = append(all, "it has no permission requests and runs every command unasked")
	}
	if m.bypass != "" {
		all = append(all, "its setting "+m.bypass+" lets it act without asking")
	}
	for _, path := range grants(m.kind, m.preset, m.cwd, m.settings.Environ) {
		all = append(all, path+" has rules that let it act without asking")
	}
	if !m.kind.Harmless {
		switch local := m.settings.URL == "" || m.kind.InProcess; {
		case !local || !severalConfigured(s.Config) || s.confined(name):
		case !slices.ContainsFunc(s.Auth.Approver, forMany):
			all = append(all, "it runs as the gateway's user, and several people use the gateway: a command that somebody approves can read and change all that this user can, the files of other people's sessions too")
		default:
			all = append(all, "every collaborator may approve its commands, which can read and change all that the gateway's user can, so every collaborator owns the gateway: name a role or a group of approvers in auth.approver")
		}
		for _, path := range s.secretsIn(m.cwd) {
			all = append(all, path+" lies in its workspace: the gateway denies requests for that file, but a command that a person allows can read it: keep the file elsewhere")
		}
	}
	return all
}
