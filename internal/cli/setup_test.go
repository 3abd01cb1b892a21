package cli

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Without a configuration only a gateway for one person offers an agent that runs commands.
func TestAnAgentThatRunsCommandsIsOfferedToOnePersonOrByName(t *testing.T) {
	t.Setenv("CI_TOKEN", "ci-token-0123456789")
	const harmless = "demo echo runner"
	var every []string
	for _, a := range builtIn() {
		if a.Needs == "" {
			every = append(every, a.Name)
		}
	}
	all := strings.Join(every, " ")
	for name, c := range map[string]struct {
		conf string
		f    flags
		want string
	}{
		"one person":                  {"", flags{}, all},
		"one person, another port":    {"", flags{listen: "[::1]:9000"}, all},
		"at the terminal":             {"listen: 0.0.0.0:80", flags{alone: true}, all},
		"reached from elsewhere":      {"listen: 0.0.0.0:80", flags{}, harmless},
		"reached, by a flag":          {"", flags{listen: ":8787"}, harmless},
		"several tokens":              {"auth: {tokens: [{name: ci, role: viewer, token_env: CI_TOKEN}]}", flags{}, harmless},
		"tokens of an issuer":         {"auth: {mode: jwt}", flags{}, harmless},
		"tokens of an issuer, flag":   {"", flags{auth: "jwt"}, harmless},
		"everybody on this machine":   {"", flags{auth: "none"}, harmless},
		"tokens judged elsewhere":     {"auth: {pass_through: demo}", flags{}, harmless},
		"named":                       {"listen: 0.0.0.0:80\nagents: {claude: {}}", flags{}, "claude"},
		"a section names all":         {"agents: {demo: {}, x: {adapter: echo}}", flags{}, "demo x"},
		"switched off":                {"agents: {demo: {}, claude: {enabled: false}}", flags{}, "demo"},
		"switched on":                 {"agents: {demo: {}, claude: {enabled: true}}", flags{agent: "claude"}, "claude demo"},
		"the only one is the default": {"agents: {x: {adapter: echo}}", flags{}, "x"},
	} {
		c.f.cwd = t.TempDir()
		s, err := load(builtIn(), file(t, "tributary.yaml", c.conf), c.f)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(slices.Sorted(maps.Keys(s.Agents)), " "); got != c.want {
			t.Errorf("%s: there are %s, want %s", name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		conf string
		f    flags
		says string
	}{
		"not offered":      {"", flags{auth: "jwt", agent: "claude"}, "the agent claude runs commands on this machine, and the configuration does not offer it: write `agents: {claude: {}}` into it; there are demo, echo, runner"},
		"off":              {"agents: {demo: {}, claude: {enabled: false}}", flags{agent: "claude"}, "the configuration does not offer it"},
		"no default":       {"agents: {x: {adapter: echo}, y: {adapter: echo}}", flags{}, "default_agent is missing, and there are several agents: write one of x, y"},
		"default is off":   {"default_agent: claude\nagents: {demo: {}, claude: {enabled: false}}", flags{}, `default_agent is "claude", which is no agent: there are demo`},
		"nobody is there":  {"agents: {claude: {enabled: false}}", flags{}, "agents offers none: name at least one agent, such as demo"},
		"nothing is named": {"agents: {}", flags{}, "agents offers none"},
	} {
		c.f.cwd = t.TempDir()
		s, err := load(builtIn(), file(t, "tributary.yaml", c.conf), c.f)
		if err := cmp.Or(err, s.chosen()); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
