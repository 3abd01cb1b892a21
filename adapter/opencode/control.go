package opencode

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// Controls implements agent.Controllable. A mode and a model count from the next prompt.
func (s *session) Controls() agent.Controls {
	return agent.Controls{
		Steer: s.steer,
		SetMode: func(_ context.Context, id string) error {
			s.state.Lock()
			known := slices.ContainsFunc(s.modes, func(m trace.Mode) bool { return m.ID == id })
			if known {
				s.mode = id
			}
			s.state.Unlock()
			if !known {
				return fmt.Errorf("opencode: there is no agent %q", id)
			}
			s.host.Note(trace.CurrentMode(id))
			return nil
		},
		SetModel: func(_ context.Context, id string) error {
			if !strings.Contains(id, "/") {
				return fmt.Errorf("opencode: %q is no model: write PROVIDER/MODEL", id)
			}
			s.state.Lock()
			s.model = id
			models := s.models
			s.state.Unlock()
			s.host.Note(trace.Models(id, models))
			return nil
		},
	}
}

// steer sends a prompt into the running turn: the server reads it before its next step.
func (s *session) steer(ctx context.Context, p agent.Prompt) error {
	srv, _ := s.current()
	if srv == nil || srv.gone() {
		return agentkit.ErrClosed
	}
	body, err := s.body(p)
	if err != nil {
		return err
	}
	return s.refusal(srv.do(ctx, http.MethodPost, s.path("prompt_async"), body, nil))
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
func (s *session) rules(agents []about) []rule {
	all := []rule{{"*", "*", "ask"}}
	for _, free := range []string{"question", "todowrite", "todoread"} {
		all = append(all, rule{free, "*", "allow"})
	}
	for _, a := range agents {
		if a.Mode != "primary" && a.unasked() {
			s.cfg.Logger.Warn("opencode: a sub-agent is switched off, because it may act without asking: let its permissions be ask", "subagent", a.Name)
			all = append(all, rule{"task", a.Name, "deny"})
		}
	}
	return all
}

// describe lists the modes and the models. Nothing depends on the models.
func (s *session) describe(ctx context.Context, srv *server, agents []about) {
	var configured struct {
		Providers []struct {
			ID     string
			Models map[string]struct{ Name string }
		}
	}
	if err := srv.do(ctx, http.MethodGet, "/config/providers", nil, &configured); err != nil {
		s.cfg.Logger.Debug(err.Error())
	}
	var modes []trace.Mode
	for _, a := range agents {
		if a.Mode != "subagent" && !a.Hidden {
			modes = append(modes, trace.Mode{ID: a.Name, Name: a.Name, Description: a.Description})
		}
	}
	var models []trace.Model
	for _, p := range configured.Providers {
		for _, id := range slices.Sorted(maps.Keys(p.Models)) {
			models = append(models, trace.Model{ID: p.ID + "/" + id, Name: p.Models[id].Name})
		}
	}
	s.state.Lock()
	s.modes, s.models = modes, models
	mode, model := s.mode, s.model
	s.state.Unlock()
	if len(modes) > 0 {
		s.host.Note(trace.Modes(cmp.Or(mode, modes[0].ID), modes))
	}
	if len(models) > 0 {
		s.host.Note(trace.Models(model, models))
	}
}
