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

// describe lists the modes and the models. Nothing depends on them.
func (s *session) describe(ctx context.Context, srv *server) {
	var agents []struct {
		Name, Description, Mode string
		Hidden                  bool
	}
	var configured struct {
		Providers []struct {
			ID     string
			Models map[string]struct{ Name string }
		}
	}
	for path, out := range map[string]any{"/agent": &agents, "/config/providers": &configured} {
		if err := srv.do(ctx, http.MethodGet, path, nil, out); err != nil {
			s.cfg.Logger.Debug(err.Error())
		}
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
