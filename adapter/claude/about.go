package claude

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// This file says which agent it is, and with which model.

// product is what readers of a trace know Claude Code by.
const product = "claude-code"

// introduced takes the line init, which comes before every turn.
func (d *Decoder) introduced(s system, t agent.Turns) {
	info := trace.AgentInfo{Product: product, Version: s.Version, Provider: d.providerName()}
	var names []string
	if json.Unmarshal(s.Tools, &names) == nil { // a list of another form names no tools
		for _, name := range names {
			info.Tools = append(info.Tools, trace.ToolDefinition{Name: name})
		}
	}
	if s.Model != "" {
		d.model = s.Model
		info.Model = modelID(s.Model)
	}
	t.Note(info.Payload())
}

// spoke notes a model that answers in place of the one that was known.
func (d *Decoder) spoke(model string, t agent.Turns) {
	if model == "" || model == synthetic || model == d.model {
		return
	}
	if id := modelID(model); id != modelID(d.model) {
		t.Note(trace.AgentInfo{Model: id}.Payload())
	}
	d.model = model
}

// modelID is the id of a model without what Claude Code adds to it, such as [1m] for a larger
// context. A word that stands for whatever model the agent chooses is no id.
func modelID(name string) string {
	id, _, _ := strings.Cut(name, "[")
	if slices.Contains([]string{"default", "best", "inherit", "opusplan", "opus", "sonnet", "haiku"}, id) {
		return ""
	}
	return id
}

// providerName is who serves the model: Anthropic unless the agent says otherwise.
func (d *Decoder) providerName() string {
	if d.provider == "" || d.provider == "firstParty" {
		return "anthropic"
	}
	return d.provider
}
