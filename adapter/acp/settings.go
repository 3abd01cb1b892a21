package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/trace"
)

// opened is the reply to a request that opened a session or changed an option.
type opened struct {
	Modes struct {
		Current   string       `json:"currentModeId"`
		Available list[choice] `json:"availableModes"`
	} `json:"modes"`
	Models struct {
		Current   string       `json:"currentModelId"`
		Available list[choice] `json:"availableModels"`
	} `json:"models"`
	Options list[option] `json:"configOptions"`
}

// option is a setting of a session.
type option struct {
	ID       string       `json:"id"`
	Category string       `json:"category"`
	Type     string       `json:"type"`
	Current  any          `json:"currentValue"`
	Choices  list[choice] `json:"options"`

	method, key string // by which an older agent sets it
}

// choice is a value of an option, or a group of values.
type choice struct {
	Value       string       `json:"value"`
	ID          string       `json:"id"`      // of a mode
	ModelID     string       `json:"modelId"` // of a model
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Choices     list[choice] `json:"options"`
}

// options are the settings in the order of the agent. The modes and models of older
// agents count as options.
func (o opened) options() []option {
	all := o.Options.all()
	for _, old := range []option{
		{ID: "mode", Current: o.Modes.Current, Choices: o.Modes.Available, method: "session/set_mode", key: "modeId"},
		{ID: "model", Current: o.Models.Current, Choices: o.Models.Available, method: "session/set_model", key: "modelId"},
	} {
		if _, ok := find(all, old.ID); !ok && len(old.Choices) > 0 {
			all = append(all, old)
		}
	}
	return all
}

// find returns the option of a category, or with an id.
func find(all []option, name string) (option, bool) {
	i := slices.IndexFunc(all, func(o option) bool { return o.ID == name || o.Category == name })
	if i < 0 {
		return option{}, false
	}
	return all[i], true
}

// values are the values of an option, those of groups too.
func (o option) values() []trace.Mode {
	var all []trace.Mode
	for _, c := range o.Choices.all() {
		if id := cmp.Or(c.Value, c.ID, c.ModelID); id != "" {
			all = append(all, trace.Mode{ID: id, Name: c.Name, Description: c.Description})
		}
		all = append(all, option{Choices: c.Choices}.values()...)
	}
	return all
}

// configured takes the settings of the session, and puts modes and models on record.
func (d *Decoder) configured(fresh []option, t agent.Turns) {
	if len(fresh) == 0 {
		return
	}
	for _, old := range d.options { // config options come without them
		if _, ok := find(fresh, old.ID); !ok && old.method != "" {
			fresh = append(fresh, old)
		}
	}
	d.options = fresh
	if o, ok := find(fresh, "mode"); ok {
		current, _ := o.Current.(string) // an option of another type has no value that is a name
		t.Note(trace.Modes(current, o.values()))
	}
	if o, ok := find(fresh, "model"); ok {
		current, _ := o.Current.(string)
		if current != d.chosen {
			d.chosen = current
			d.learn(d.modelOf(current), t)
		}
		var models []trace.Model
		for _, v := range o.values() {
			models = append(models, trace.Model(v))
		}
		t.Note(trace.Models(current, models))
	}
}

// has are the settings of the session.
func (p *protocol) has() (all []option) {
	p.conn.Session().Do(func() { all = p.options })
	return all
}

// configure sets the mode, the model and what else the configuration says.
func (p *protocol) configure(ctx context.Context) error {
	cfg := p.conn.Config()
	mode := cmp.Or(cfg.Mode, p.settings.Mode)
	if p.runtime.Preset.loose(mode) {
		return p.looseMode(mode)
	}
	for _, s := range []struct{ name, value string }{{"mode", mode}, {"model", cfg.Model}} {
		if s.value == "" {
			continue
		}
		if err := p.set(ctx, s.name, s.value); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.settings.Config)) {
		if err := p.set(ctx, name, p.settings.Config[name]); err != nil {
			return err
		}
	}
	return nil
}

func (p *protocol) looseMode(mode string) error {
	return p.errorf("the mode %s lets the agent act without asking, which is not allowed", mode)
}

// set changes a setting.
func (p *protocol) set(ctx context.Context, name string, value any) error {
	all := p.has()
	o, ok := find(all, name)
	if !ok {
		var names []string
		for _, o := range all {
			names = append(names, o.ID)
		}
		return p.errorf("it has no setting %q: its settings are %s", name, cmp.Or(strings.Join(names, ", "), "none"))
	}
	method, params := methodSetOption, object{"sessionId": p.id, "configId": o.ID, "value": value}
	switch {
	case o.method != "":
		method, params = o.method, object{"sessionId": p.id, o.key: value}
	case o.Type == "boolean":
		params["type"] = "boolean"
	}
	err := p.rpc.Call(ctx, method, params, nil)
	e, ok := errors.AsType[jsonrpc.Error](err)
	if !ok {
		return err
	}
	var values []string
	for _, v := range o.values() {
		values = append(values, v.ID)
	}
	return p.errorf("it does not take the %s %q: %s Its values are %s.", name, fmt.Sprint(value), sentence(explain(e)), cmp.Or(strings.Join(values, ", "), "unknown"))
}

// Controls implements agent.Controllable.
func (p *protocol) Controls() agent.Controls {
	var c agent.Controls
	all := p.has()
	if _, ok := find(all, "mode"); ok {
		c.SetMode = func(ctx context.Context, id string) error {
			if p.runtime.Preset.loose(id) {
				return p.looseMode(id)
			}
			return p.set(ctx, "mode", id)
		}
	}
	if _, ok := find(all, "model"); ok {
		c.SetModel = func(ctx context.Context, id string) error { return p.set(ctx, "model", id) }
	}
	return c
}
