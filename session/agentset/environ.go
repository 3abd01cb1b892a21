package cli

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/config"
)

// everyProcess names the variables that the process of every agent gets: where programs
// and the user's files are, how to show text, and how to reach the network.
func everyProcess() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TERM", "COLORTERM", "NO_COLOR", "TZ", "TMPDIR", "XDG_*",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
	}
}

// ownPrefix begins the names of the gateway's own variables.
const ownPrefix = "TRIBUTARY_"

// environ is the environment of an agent's processes, and the only one: of the gateway's
// own environment the variables that are allowed, and on top those of the configuration.
// A variable that holds a secret of the gateway is never among them.
func (s *setup) environ(name string, kind agent.Adapter, preset agent.Preset, ours []string) ([]string, error) {
	a, secrets := s.Agents[name], s.secrets()
	for _, v := range a.PassEnv {
		if secrets[v] || strings.HasPrefix(v, ownPrefix) {
			return nil, s.Fault("agents."+name+".pass_env", "names %s, which holds a secret of the gateway: an agent must not have it", v)
		}
	}
	allowed := slices.Concat(everyProcess(), kind.Environ, preset.Environ)
	env := []string{} // not nil: that would mean the gateway's own
	for _, kv := range ours {
		v, _, _ := strings.Cut(kv, "=")
		if !secrets[v] && !strings.HasPrefix(v, ownPrefix) && (passes(allowed, v) || slices.Contains(a.PassEnv, v)) {
			env = append(env, kv)
		}
	}
	for _, v := range slices.Sorted(maps.Keys(a.Env)) {
		env = append(env, v+"="+a.Env[v])
	}
	return env, nil
}

// passes reports whether a list of names and beginnings lets a variable through. A
// name after ! is never let through.
func passes(allowed []string, name string) bool {
	if slices.Contains(allowed, "!"+name) {
		return false
	}
	return slices.ContainsFunc(allowed, func(pattern string) bool {
		start, open := strings.CutSuffix(pattern, "*")
		return pattern == name || open && strings.HasPrefix(name, start)
	})
}

// secrets are the names of all variables in which the configuration says that a secret
// stands.
func (s *setup) secrets() map[string]bool {
	all := map[string]bool{}
	for _, t := range s.Auth.Tokens {
		all[t.TokenEnv] = true
	}
	if o := s.Auth.OIDC; o != nil {
		all[o.ClientSecretEnv] = true
	}
	if j := s.Auth.JWT; j != nil {
		all[j.KeyEnv], all[j.SecretEnv] = true, true
	}
	for _, e := range s.Exporters {
		for _, value := range e.Headers {
			if name, is := config.SecretEnv(value); is {
				all[name] = true
			}
		}
	}
	for _, a := range s.named {
		all[a.TokenEnv] = true
		var options any
		if json.Unmarshal(a.Options, &options) == nil {
			secretsIn(options, all)
		}
	}
	delete(all, "")
	return all
}

// secretsIn collects what the keys that end in _env name, at any depth.
func secretsIn(v any, all map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			if name, ok := item.(string); ok && strings.HasSuffix(key, "_env") {
				all[name] = true
			}
			secretsIn(item, all)
		}
	case []any:
		for _, item := range v {
			secretsIn(item, all)
		}
	}
}
