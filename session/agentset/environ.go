package agentset

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
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

// ofTheUser names the variables that an agent with a user of its own does not get: they are those of the
// gateway's user, whose directories are closed to the agent.
func ofTheUser() []string {
	return []string{"HOME", "USER", "LOGNAME", "SHELL", "MAIL", "TMPDIR", "XDG_*"}
}

// ownPrefix begins the names of the gateway's own variables.
const ownPrefix = "TRIBUTARY_"

// EveryProcess returns the variables of an environment that the process of every agent gets.
func EveryProcess(ours []string) []string { return allowed(ours, everyProcess()) }

// environ is the environment of an agent's processes, and the only one: of the gateway's
// own environment the variables that are allowed, and on top those of the settings.
// A variable that holds a secret of the gateway is never among them.
func (g Gateway) environ(a Agent, ours []string) ([]string, error) {
	for _, v := range a.PassEnv {
		if g.secret(v) {
			return nil, a.refuse("pass_env", "names %s, which holds a secret of the gateway: an agent must not have it", v)
		}
	}
	env := slices.DeleteFunc(allowed(ours, slices.Concat(everyProcess(), a.Kind.Environ, a.preset.Environ), a.PassEnv...), func(kv string) bool {
		v, _, _ := strings.Cut(kv, "=")
		return g.secret(v) || a.user != nil && passes(ofTheUser(), v) && !slices.Contains(a.PassEnv, v)
	})
	if a.user != nil {
		env = append(env, a.user.Environ()...)
	}
	for _, v := range slices.Sorted(maps.Keys(a.Env)) {
		env = append(env, v+"="+a.Env[v])
	}
	return env, nil
}

// secret reports whether a variable is the gateway's own, or holds a secret of it.
func (g Gateway) secret(name string) bool {
	return slices.Contains(g.SecretEnv, name) || strings.HasPrefix(name, ownPrefix)
}

// allowed are the variables of an environment that a list of patterns lets through, and those that are named.
func allowed(ours, patterns []string, named ...string) []string {
	env := []string{} // not nil, which is no environment yet
	for _, kv := range ours {
		if v, _, _ := strings.Cut(kv, "="); passes(patterns, v) || slices.Contains(named, v) {
			env = append(env, kv)
		}
	}
	return env
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

// EachOption calls do for each text in the options of an agent whose key ends so, at any depth. at is its
// place, such as .mcp[0].token_env. Keys that end in _env name variables with secrets, and those in _file
// such files.
func EachOption(options json.RawMessage, suffix string, do func(at, text string)) {
	var v any
	if json.Unmarshal(options, &v) == nil {
		textsOf(v, "", suffix, do)
	}
}

func textsOf(v any, at, suffix string, do func(at, text string)) {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			if text, ok := item.(string); ok && text != "" && strings.HasSuffix(key, suffix) {
				do(at+"."+key, text)
			}
			textsOf(item, at+"."+key, suffix, do)
		}
	case []any:
		for i, item := range v {
			textsOf(item, fmt.Sprintf("%s[%d]", at, i), suffix, do)
		}
	}
}
