package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// hello is the agent's reply to initialize.
type hello struct {
	Version int `json:"protocolVersion"`
	Info    struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version string `json:"version"`
	} `json:"agentInfo"`
	Can struct {
		Load   bool `json:"loadSession"`
		Prompt struct {
			Image   bool `json:"image"`
			Audio   bool `json:"audio"`
			Context bool `json:"embeddedContext"`
		} `json:"promptCapabilities"`
		MCP struct {
			HTTP bool `json:"http"`
			SSE  bool `json:"sse"`
		} `json:"mcpCapabilities"`
		Session struct {
			Resume *raw `json:"resume"`
			Close  *raw `json:"close"`
		} `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
	AuthMethods []authMethod `json:"authMethods"`
}

// authMethod is a way to log in.
type authMethod struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Type        string   `json:"type"`
	Args        []string `json:"args"`
}

// login adds to an error how a person logs in.
func (h hello) login(problem string) string {
	var ways []string
	for _, m := range h.AuthMethods {
		way := fmt.Sprintf("%q (%s)", m.ID, cmp.Or(m.Name, m.ID))
		if m.Type == "terminal" && len(m.Args) > 0 {
			way += ", by running the agent with `" + strings.Join(m.Args, " ") + "` in a terminal"
		}
		ways = append(ways, way)
	}
	advice := "Log in by running the agent once in a terminal, or give it a key in `env`."
	if len(ways) > 0 {
		advice += " Its methods of logging in, for the option auth_method: " + strings.Join(ways, "; ") + "."
	}
	return strings.TrimSpace(problem + " " + advice)
}

// settings are the modes, models and other options of a session. Config options
// replace modes and models where an agent has both.
type settings struct {
	Modes struct {
		Current   string `json:"currentModeId"`
		Available []mode `json:"availableModes"`
	} `json:"modes"`
	Models struct {
		Current   string `json:"currentModelId"`
		Available []mode `json:"availableModels"`
	} `json:"models"`
	Options []option `json:"configOptions"`
}

type mode struct {
	ID          string `json:"id"`
	ModelID     string `json:"modelId"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// UnmarshalJSON implements json.Unmarshaler: what is no mode is left out later.
func (m *mode) UnmarshalJSON(data []byte) error {
	type plain mode
	var p plain
	if json.Unmarshal(data, &p) == nil {
		*m = mode(p)
	}
	return nil
}

// option is a setting of a session.
type option struct {
	ID       string `json:"id"`
	Category string `json:"category"`
	Type     string `json:"type"`
	Current  any    `json:"currentValue"`
	Options  []struct {
		Value       string   `json:"value"`
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Options     []choice `json:"options"` // of a group
	} `json:"options"`
}

type choice struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// UnmarshalJSON implements json.Unmarshaler: what is no option is left out later.
func (o *option) UnmarshalJSON(data []byte) error {
	type plain option
	var p plain
	if json.Unmarshal(data, &p) == nil {
		*o = option(p)
	}
	return nil
}

// choices are the values of an option, those of groups too.
func (o option) choices() []choice {
	var all []choice
	for _, v := range o.Options {
		if v.Value != "" {
			all = append(all, choice{v.Value, v.Name, v.Description})
		}
		all = append(all, v.Options...)
	}
	return all
}

func (o option) current() string {
	value, _ := o.Current.(string) // an option of another type has none that is a name
	return value
}

// find returns the option of a category, or with an id.
func (s settings) find(name string) (option, bool) {
	for _, o := range s.Options {
		if o.ID == name || o.Category == name {
			return o, true
		}
	}
	return option{}, false
}

// note records the modes and models of the session.
func (s settings) note(t agent.Turns) {
	modes, current := make([]trace.Mode, 0), s.Modes.Current
	for _, m := range s.Modes.Available {
		if m.ID != "" {
			modes = append(modes, trace.Mode{ID: m.ID, Name: m.Name, Description: m.Description})
		}
	}
	if o, ok := s.find("mode"); ok {
		modes, current = modes[:0], o.current()
		for _, c := range o.choices() {
			modes = append(modes, trace.Mode{ID: c.Value, Name: c.Name, Description: c.Description})
		}
	}
	if len(modes) > 0 {
		t.Note(trace.Modes(current, modes))
	}
	models, model := make([]trace.Model, 0), s.Models.Current
	for _, m := range s.Models.Available {
		if m.ModelID != "" {
			models = append(models, trace.Model{ID: m.ModelID, Name: m.Name, Description: m.Description})
		}
	}
	if o, ok := s.find("model"); ok {
		models, model = models[:0], o.current()
		for _, c := range o.choices() {
			models = append(models, trace.Model{ID: c.Value, Name: c.Name, Description: c.Description})
		}
	}
	if len(models) > 0 {
		t.Note(trace.Models(model, models))
	}
}

// note records news of the session that belong to no turn. It reports whether the
// update was such.
func (d *Decoder) note(u update, t agent.Turns) bool {
	switch u.Kind {
	case "available_commands_update":
		all := make([]trace.Command, 0, len(u.Commands))
		for _, c := range u.Commands {
			if c.Name == "" {
				continue
			}
			shown := trace.Command{Name: c.Name, Description: short(c.Description)}
			if c.Input != nil {
				shown.Hint = short(c.Input.Hint)
			}
			all = append(all, shown)
		}
		t.Note(trace.Commands(all))
	case "current_mode_update":
		t.Note(trace.CurrentMode(u.ModeID))
	case "config_option_update":
		d.config.Options = u.ConfigOptions
		d.config.note(t)
	case "session_info_update":
		if c := d.current(t); c != nil && u.Meta.Codex.Status.Type == "systemError" {
			c.broken = true
		}
		if u.Title != nil && *u.Title != "" {
			t.Note(trace.Title(string(*u.Title)))
		}
	default:
		return false
	}
	d.touch(t)
	return true
}

// shortRunes bounds a description: agents put whole manuals there.
const shortRunes = 200

func short(s string) string {
	if len(s) <= shortRunes {
		return s
	}
	s = s[:min(len(s), 4*shortRunes+4)]
	if r := []rune(s); len(r) > shortRunes {
		return strings.TrimSpace(string(r[:shortRunes])) + "…"
	}
	return s
}

func sorted(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
