package opencode

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Controls implements agent.Controllable. A mode and a model count from the next prompt. A
// prompt into the running turn is read before the agent's next step.
func (p *protocol) Controls() agent.Controls {
	return agent.Controls{
		Steer: func(ctx context.Context, prompt agent.Prompt) error {
			call, err := p.Run(ctx, prompt)
			if err != nil {
				return err
			}
			return p.s.Tell(ctx, call)
		},
		SetMode: func(_ context.Context, id string) error {
			p.state.Lock()
			defer p.state.Unlock()
			if !slices.ContainsFunc(p.modes, func(m trace.Mode) bool { return m.ID == id }) {
				return fmt.Errorf("opencode: there is no agent %q", id)
			}
			p.mode = id
			p.s.Host().Note(trace.CurrentMode(id))
			return nil
		},
		SetModel: func(_ context.Context, id string) error {
			if !strings.Contains(id, "/") {
				return fmt.Errorf("opencode: %q is no model: write PROVIDER/MODEL", id)
			}
			p.state.Lock()
			defer p.state.Unlock()
			p.model = id
			p.s.Host().Note(trace.Models(id, p.models))
			return nil
		},
	}
}

// about is an agent of OpenCode, as the server lists it.
type about struct {
	Name, Description, Mode string
	Hidden                  bool
	Permission              []rule
}

// rule is a permission rule of OpenCode. The last one that matches counts.
type rule struct {
	Permission string `json:"permission"`
	Pattern    string `json:"pattern"`
	Action     string `json:"action"`
}

// unasked reports whether an agent may do something that matters without asking.
func (a about) unasked() bool {
	return slices.ContainsFunc([]string{"*", "bash", "edit", "webfetch"}, func(tool string) (allowed bool) {
		for _, r := range a.Permission {
			if r.Permission == "*" || r.Permission == tool {
				allowed = r.Action == "allow" || allowed && r.Pattern != "*"
			}
		}
		return allowed
	})
}

// rules make the session ask about everything. A sub-agent has rules of its own, so one that
// would not ask cannot be called.
func (p *protocol) rules(agents []about) []rule {
	all := []rule{{"*", "*", "ask"}, {"question", "*", "allow"}, {"todowrite", "*", "allow"}, {"todoread", "*", "allow"}}
	for _, a := range agents {
		if a.Mode != "primary" && a.unasked() {
			p.s.Config().Logger.Warn("opencode: a sub-agent is switched off, because it may act without asking: let its permissions be ask", "subagent", a.Name)
			all = append(all, rule{"task", a.Name, "deny"})
		}
	}
	return all
}

// describe lists the modes and the models. Nothing depends on the models.
func (p *protocol) describe(ctx context.Context, agents []about) {
	var configured struct {
		Providers []struct {
			ID     string
			Models map[string]struct{ Name string }
		}
	}
	if err := p.s.Fetch(ctx, get("/config/providers"), &configured); err != nil {
		p.s.Config().Logger.Debug(err.Error())
	}
	var modes []trace.Mode
	for _, a := range agents {
		if a.Mode != "subagent" && !a.Hidden {
			modes = append(modes, trace.Mode{ID: a.Name, Name: a.Name, Description: a.Description})
		}
	}
	var models []trace.Model
	for _, provider := range configured.Providers {
		for _, id := range slices.Sorted(maps.Keys(provider.Models)) {
			models = append(models, trace.Model{ID: provider.ID + "/" + id, Name: provider.Models[id].Name})
		}
	}
	p.state.Lock()
	defer p.state.Unlock()
	p.modes, p.models = modes, models
	if len(modes) > 0 {
		p.s.Host().Note(trace.Modes(cmp.Or(p.mode, modes[0].ID), modes))
	}
	if len(models) > 0 {
		p.s.Host().Note(trace.Models(p.model, models))
	}
}
