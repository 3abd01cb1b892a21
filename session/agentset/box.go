package agentset

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/policy/egress"
	"github.com/tributary-dev/tributary/session"
)

// BoxRule is the box around the programs of an agent that run outside of a hub. The reason says why it
// is weaker than the agent's setting, or is "".
func (g Gateway) BoxRule(a session.Agent) (rule box.Rule, reason string, err error) {
	form, reason, err := a.Boxed()
	rule = box.Rule{Form: form, Closed: g.Kept(), Read: a.Box.Read, Write: a.Box.Write, Files: a.Box.Files, User: a.User}
	if a.Egress != nil && err == nil {
		hosts, wrong := egress.Parse(a.Egress)
		rule.Network, err = &egress.Proxy{Hosts: hosts}, wrong
	}
	return rule, reason, cmp.Or(err, rule.Check(a.Cwd))
}

// needs is what an agent needs in a strict box.
func (a Agent) needs() agent.Box {
	if a.preset.Name != "" {
		return a.preset.Box
	}
	return a.Kind.Box
}

// everyBox is what programs need of the home directory and of their environment, whatever the agent is.
func everyBox() agent.Box {
	return agent.Box{
		Read: []string{
			"~/.gitconfig", "${XDG_CONFIG_HOME:-~/.config}/git", "${SSL_CERT_FILE}", "${SSL_CERT_DIR}", "${NODE_EXTRA_CA_CERTS}", "${REQUESTS_CA_BUNDLE}",
			"${CURL_CA_BUNDLE}", "${GIT_SSL_CAINFO}",
		},
	}
}

// BoxSetting completes the box of an agent that starts programs.
func (g Gateway) BoxSetting(a Agent, s box.Setting) (box.Setting, error) {
	if s.Form == box.Strict && !a.local() {
		return s, a.refuse("box.form", "is strict, and the agent lives on the server that url names, which no box confines: write guard")
	}
	form, needs := box.Guard, a.needs()
	if needs.Strict() && !g.Alone && a.local() {
		form = box.Strict
	}
	s.Form = cmp.Or(s.Form, form)
	for _, one := range []agent.Box{everyBox(), needs} {
		read, write, files := one.Places(a.Settings.Environ)
		s.Read, s.Write, s.Files = slices.Concat(s.Read, read), slices.Concat(s.Write, write), slices.Concat(s.Files, files)
	}
	for _, kv := range a.Settings.Environ {
		if path, is := strings.CutPrefix(kv, "PATH="); is {
			s.Read = slices.Concat(s.Read, slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) }))
		}
	}
	return s, nil
}

// local reports whether the agent's programs run on this machine.
func (a Agent) local() bool { return a.Settings.URL == "" || a.Kind.InProcess }
