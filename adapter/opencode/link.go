package opencode

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/trace"
)

// link brings one prompt to the server.
type link struct {
	s      *session
	prompt agent.Prompt
	srv    *server
}

var _ agentkit.Link = (*link)(nil)

// Connect implements agentkit.Link.
func (l *link) Connect(ctx context.Context) (<-chan struct{}, error) {
	srv, err := l.s.connect(ctx)
	if err != nil {
		return nil, err
	}
	l.srv = srv
	return srv.life.Done(), nil
}

// Send implements agentkit.Link.
func (l *link) Send(ctx context.Context) error {
	body := map[string]any{}
	parts := []map[string]string{}
	for _, p := range l.prompt.Message.Parts {
		switch p.Type {
		case trace.InputText:
			parts = append(parts, map[string]string{"type": "text", "text": p.Text})
		case trace.InputFile:
			parts = append(parts, map[string]string{"type": "file", "mime": p.MediaType, "url": p.URL, "filename": p.Filename})
		}
	}
	if len(parts) == 0 {
		return &agentkit.PromptError{Reason: "empty_prompt", Sentence: "The prompt holds nothing that " + l.s.rt.name() + " can read."}
	}
	body["parts"] = parts
	if provider, model, ok := strings.Cut(l.s.cfg.Model, "/"); ok {
		body["model"] = map[string]string{"providerID": provider, "modelID": model}
	}
	if l.s.rt.Settings.Agent != "" {
		body["agent"] = l.s.rt.Settings.Agent
	}
	_, id := l.s.current()
	err := l.s.call(ctx, l.srv, http.MethodPost, "/session/"+id+"/prompt_async", body)
	if refused, ok := errors.AsType[*httpjson.Error](err); ok && refused.Status >= 400 {
		return &agentkit.PromptError{Reason: "refused", Sentence: l.s.rt.name() + " did not take the prompt: " + refused.Message}
	}
	return err
}

// Stop implements agentkit.Link.
func (l *link) Stop(ctx context.Context) error {
	_, id := l.s.current()
	return l.s.Session.Send(ctx, encode(call{Method: http.MethodPost, Path: "/session/" + id + "/abort"}))
}

// Cut implements agentkit.Link.
func (l *link) Cut() { l.srv.close() }

// Lost implements agentkit.Link.
func (l *link) Lost() trace.Stop { return l.s.death(l.srv) }
