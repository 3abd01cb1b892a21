package agentset

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

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

// Warnings are sentences about what lets a settled agent act without asking the gateway.
func (g Gateway) Warnings(a Agent) []string {
	var all []string
	if a.preset.AsksNobody {
		all = append(all, "it has no permission requests and runs every command unasked")
	}
	if b := a.bypass(); b != "" {
		all = append(all, "its setting "+b+" lets it act without asking")
	}
	for _, path := range grants(a.Kind, a.preset, a.Cwd, a.Settings.Environ) {
		all = append(all, path+" has rules that let it act without asking")
	}
	if !a.Kind.Harmless {
		for _, path := range g.secretsIn(a.Cwd) {
			all = append(all, path+" lies in its workspace: the gateway denies requests for that file, but a command that a person allows can read it: keep the file elsewhere")
		}
	}
	return all
}
