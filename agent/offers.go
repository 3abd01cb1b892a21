package agent

import (
	"cmp"
	"encoding/json"

	"github.com/tributary-dev/tributary/trace"
)

// Offers are what an agent lists of itself, and what is chosen of it.
type Offers struct {
	Mode     string          `json:"mode,omitempty"`
	Modes    []trace.Mode    `json:"modes,omitempty"`
	Model    string          `json:"model,omitempty"`
	Models   []trace.Model   `json:"models,omitempty"`
	Commands []trace.Command `json:"commands,omitempty"`
}

// mostOffers bounds each list. An agent that offers more shows the first ones.
const mostOffers = 1000

// Take takes over a note of the agent, and reports whether it is about an offer. The lists
// are never changed, only replaced.
func (o *Offers) Take(d trace.Data) bool {
	var v struct {
		Mode     string          `json:"mode"`
		Current  string          `json:"current"`
		Modes    []trace.Mode    `json:"modes"`
		Models   []trace.Model   `json:"models"`
		Commands []trace.Command `json:"commands"`
	}
	switch d.Name {
	case "mode", "modes", "models", "commands":
		if json.Unmarshal(d.Value, &v) != nil {
			return false
		}
	}
	switch d.Name {
	case "mode":
		o.Mode = v.Mode
	case "modes":
		o.Mode, o.Modes = cmp.Or(v.Current, o.Mode), v.Modes[:min(len(v.Modes), mostOffers)]
	case "models":
		o.Model, o.Models = cmp.Or(v.Current, o.Model), v.Models[:min(len(v.Models), mostOffers)]
	case "commands":
		o.Commands = v.Commands[:min(len(v.Commands), mostOffers)]
	default:
		return false
	}
	return true
}
