package claude

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// This file reads what Claude Code offers.

// offer is the answer to initialize. Its lists hold objects.
type offer struct {
	Mode     string `json:"current_permission_mode"`
	Commands []raw  `json:"commands"`
	Models   []raw  `json:"models"`
	Version  string `json:"claude_code_version"`
	Account  struct {
		Provider string `json:"apiProvider"`
	} `json:"account"`
}

// offered puts modes, models and commands on record, as far as the agent lists them.
func (d *Decoder) offered(answer raw, t agent.Turns) {
	var o offer
	if json.Unmarshal(answer, &o) != nil {
		return
	}
	d.provider = o.Account.Provider
	if o.Version != "" {
		t.Note(trace.AgentInfo{Product: product, Version: o.Version, Provider: d.providerName()}.Payload())
	}
	if o.Mode != "" {
		d.mode = o.Mode
		t.Note(trace.Modes(o.Mode, modes()))
	}
	var models []trace.Model
	for _, r := range o.Models {
		var m struct{ Value, DisplayName, Description string }
		if json.Unmarshal(r, &m) == nil && m.Value != "" {
			models = append(models, trace.Model{ID: m.Value, Name: m.DisplayName, Description: m.Description})
		}
	}
	if len(models) > 0 {
		t.Note(trace.Models("", models))
	}
	var commands []trace.Command
	for _, r := range o.Commands {
		var c struct{ Name, Description, ArgumentHint string }
		if json.Unmarshal(r, &c) == nil && c.Name != "" {
			commands = append(commands, trace.Command{Name: c.Name, Description: c.Description, Hint: c.ArgumentHint})
		}
	}
	if len(commands) > 0 {
		t.Note(trace.Commands(commands))
	}
}

// The modes that the adapter itself knows.
const (
	defaultMode = "default"
	acceptEdits = "acceptEdits"
)

// modes are the modes of Claude Code in which the agent asks before it acts. The gateway
// offers no others, and the agent lists none.
func modes() []trace.Mode {
	return []trace.Mode{
		{ID: defaultMode, Name: "Default", Description: "Asks before it edits a file or runs a command"},
		{ID: "plan", Name: "Plan", Description: "Reads and plans, and changes nothing"},
		{ID: acceptEdits, Name: "Accept edits", Description: "Edits files unasked, and asks before it runs a command"},
	}
}
