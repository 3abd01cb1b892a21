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
	body, err := l.s.body(l.prompt)
	if err != nil {
		return err
	}
	// A prompt whose sending is broken off may run all the same, so it is sent and then stopped.
	return l.s.refusal(l.s.call(context.WithoutCancel(ctx), l.srv, http.MethodPost, l.s.path("prompt_async"), body))
}

// body is a prompt as the server takes it.
func (s *session) body(p agent.Prompt) (map[string]any, error) {
	parts := []map[string]string{}
	for _, p := range p.Message.Parts {
		switch p.Type {
		case trace.InputText:
			parts = append(parts, map[string]string{"type": "text", "text": p.Text})
		case trace.InputFile:
			parts = append(parts, map[string]string{"type": "file", "mime": p.MediaType, "url": p.URL, "filename": p.Filename})
		}
	}
	if len(parts) == 0 {
		return nil, &agentkit.PromptError{Reason: "empty_prompt", Sentence: "The prompt holds nothing that " + s.rt.name() + " can read."}
	}
	s.state.Lock()
	defer s.state.Unlock()
	body := map[string]any{"parts": parts}
	if provider, model, ok := strings.Cut(s.model, "/"); ok {
		body["model"] = map[string]string{"providerID": provider, "modelID": model}
	}
	if s.mode != "" {
		body["agent"] = s.mode
	}
	return body, nil
}

// refusal makes a sentence of a prompt that the server does not take.
func (s *session) refusal(err error) error {
	if refused, ok := errors.AsType[*httpjson.Error](err); ok && refused.Status >= 400 {
		return &agentkit.PromptError{Reason: "refused", Sentence: s.rt.name() + " did not take the prompt: " + refused.Message}
	}
	return err
}

// Stop implements agentkit.Link.
func (l *link) Stop(ctx context.Context) error {
	return l.s.Session.Send(ctx, encode(call{Method: http.MethodPost, Path: l.s.path("abort")}))
}

// Cut implements agentkit.Link.
func (l *link) Cut() { l.srv.close() }

// Lost implements agentkit.Link.
func (l *link) Lost() trace.Stop { return l.s.death(l.srv) }
