package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/tributary-dev/tributary/agent"
)

// Settings are the options of an agent in the configuration.
type Settings struct {
	// AuthMethod is the id of the method by which the agent is logged in.
	AuthMethod string `json:"auth_method"`
	// Mode is the mode in which sessions begin.
	Mode string `json:"mode"`
	// Config are further settings of a session, by the agent's own ids.
	Config map[string]any `json:"config"`
	// MCPServers are servers that the agent connects to.
	MCPServers []MCPServer `json:"mcp_servers"`
	// Files and Terminals say whether the agent may use files and terminals of the
	// gateway, which are confined and judged. The default is yes.
	Files     *bool `json:"files"`
	Terminals *bool `json:"terminals"`
}

// MCPServer is a server of the Model Context Protocol: a program, or an address.
type MCPServer struct {
	Name    string            `json:"name"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	// Type is http or sse, for an address; http if empty.
	Type    string            `json:"type"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
}

// Validate reports options that a session would refuse, for a program that starts.
func (r Runtime) Validate(options json.RawMessage) error {
	_, err := parseSettings(options, r.Preset)
	return err
}

func parseSettings(options json.RawMessage, p Preset) (Settings, error) {
	s := Settings{Mode: p.Mode}
	if err := agent.DecodeOptions(options, &s); err != nil {
		return s, err
	}
	for i, m := range s.MCPServers {
		if m.Name == "" || (m.Command == "") == (m.URL == "") {
			return s, fmt.Errorf("%s: mcp_servers[%d] needs a name, and either a command or a url", cmp.Or(p.Name, "acp"), i)
		}
	}
	set := []any{s.Mode}
	for _, value := range s.Config { // a mode may be a setting of the agent's
		set = append(set, value)
	}
	for _, value := range set {
		if mode, ok := value.(string); ok && (p.loose(mode) || slices.Contains(editing(), mode)) {
			return s, fmt.Errorf("%s: the mode %s lets the agent act without asking: remove it and set a permission policy instead", cmp.Or(p.Name, "acp"), mode)
		}
	}
	return s, nil
}

// loose reports whether an agent acts without asking in a mode. An agent that is run by
// its command line has no preset, and may have the modes of any.
func (p Preset) loose(mode string) bool {
	return slices.Contains(p.LooseModes, mode) ||
		slices.Contains([]string{"yolo", "bypassPermissions", "dontAsk", "agent-full-access", "auto-approve"}, mode)
}

// looseCommands are the commands that such an agent may take.
func (p Preset) looseCommands() []string {
	if p.Name != "" {
		return p.LooseCommands
	}
	var all []string
	for _, preset := range Presets() {
		all = append(all, preset.LooseCommands...)
	}
	return all
}

// editing are the modes in which agents change files without asking. A person who may
// answer for one edit may choose such a mode; a configuration has its policy.
func editing() []string { return []string{"acceptEdits", "autoEdit", "auto_edit", "auto-edit"} }

func on(setting *bool) bool { return setting == nil || *setting }

// servers encodes the servers as the protocol has them.
func (s Settings) servers() []any {
	all := []any{}
	for _, m := range s.MCPServers {
		if m.Command != "" {
			all = append(all, map[string]any{"name": m.Name, "command": m.Command, "args": append([]string{}, m.Args...), "env": pairs(m.Env)})
			continue
		}
		all = append(all, map[string]any{"type": cmp.Or(m.Type, "http"), "name": m.Name, "url": m.URL, "headers": pairs(m.Headers)})
	}
	return all
}

func pairs(vars map[string]string) []map[string]string {
	all := []map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		all = append(all, map[string]string{"name": name, "value": vars[name]})
	}
	return all
}
