package opencode

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/trace"
)

// protocol is a conversation on a server.
type protocol struct {
	*Decoder
	rt     Runtime
	remote *agentkit.Remote

	state  sync.Mutex // guards what follows
	id     string
	mode   string // OpenCode calls it an agent
	model  string
	modes  []trace.Mode
	models []trace.Model
}

// Place implements agentkit.RemoteProtocol.
func (p *protocol) Place() string {
	p.state.Lock()
	defer p.state.Unlock()
	return p.id
}

// Greet implements agentkit.RemoteProtocol.
func (p *protocol) Greet(ctx context.Context) error {
	version, err := p.rt.health(ctx, p.remote.Exchange)
	if err != nil {
		return err
	}
	p.remote.Logger().Debug("opencode: connected", "version", version)
	var agents []about
	if err := p.remote.Fetch(ctx, http.MethodGet, "/agent", nil, &agents); err != nil {
		return err
	}
	if err := p.locate(ctx, map[string]any{"permission": p.rules(agents)}); err != nil {
		return err
	}
	p.describe(ctx, agents)
	return nil
}

// locate finds the conversation, and goes back if the token names an earlier moment.
func (p *protocol) locate(ctx context.Context, settings map[string]any) error {
	at := agentkit.ParseBookmark(p.remote.Token())
	var found info
	if at.Conversation != "" {
		err := p.remote.Exchange(ctx, http.MethodPatch, "/session/"+at.Conversation, settings, &found)
		refused, _ := errors.AsType[*httpjson.Error](err)
		switch {
		case refused != nil && refused.Status == http.StatusNotFound:
			p.remote.Notice(agentkit.SessionLost(p.rt.name()))
			at.Moment = ""
		case err != nil:
			return err
		}
	}
	if found.ID == "" {
		if err := p.remote.Exchange(ctx, http.MethodPost, "/session", settings, &found); err != nil {
			return err
		}
	}
	p.state.Lock()
	p.id = found.ID
	p.state.Unlock()
	var past []entry
	if err := p.remote.Exchange(ctx, http.MethodGet, p.path("message"), nil, &past); err != nil || at.Moment == "" {
		return err
	}
	reached := false
	for _, e := range past {
		if reached && e.Info.Role == "user" {
			return p.remote.Fetch(ctx, http.MethodPost, p.path("revert"), map[string]string{"messageID": e.Info.ID}, nil)
		}
		reached = reached || e.Info.ID == at.Moment
	}
	if !reached {
		p.remote.Notice(agentkit.PlaceLost(p.rt.name()))
	}
	return nil
}

// path is a path below the conversation's.
func (p *protocol) path(what string) string { return "/session/" + p.Place() + "/" + what }

// Prompt implements agentkit.RemoteProtocol.
func (p *protocol) Prompt(prompt agent.Prompt) (agentkit.Call, error) {
	text := func(words string) map[string]string { return map[string]string{"type": "text", "text": words} }
	parts := agentkit.Blocks(prompt.Message.Parts, p.remote.Inside, text, func(file agentkit.Attachment) (map[string]string, bool) {
		return map[string]string{"type": "file", "mime": file.Media, "url": file.Address(), "filename": file.Name}, file.Address() != ""
	})
	if len(parts) == 0 {
		return agentkit.Call{}, &agentkit.PromptError{Reason: "empty_prompt", Sentence: "The prompt holds nothing that " + p.rt.name() + " can read."}
	}
	path := p.path("prompt_async")
	p.state.Lock()
	defer p.state.Unlock()
	body := map[string]any{"parts": parts}
	if provider, model, ok := strings.Cut(p.model, "/"); ok {
		body["model"] = map[string]string{"providerID": provider, "modelID": model}
	}
	if p.mode != "" {
		body["agent"] = p.mode
	}
	return agentkit.Post(path, body), nil
}

// Stop implements agentkit.RemoteProtocol.
func (p *protocol) Stop() agentkit.Call { return agentkit.Post(p.path("abort"), nil) }

// CatchUp implements agentkit.RemoteProtocol. The state is asked for before the messages and
// decoded after them, so that a turn does not end without its last words.
func (p *protocol) CatchUp(ctx context.Context) (idle bool, err error) {
	var states raw
	err = p.remote.Fetch(ctx, http.MethodGet, "/session/status", nil, &states)
	for _, path := range []string{p.path("message"), "/permission", "/question"} {
		if err == nil {
			err = p.remote.Exchange(ctx, http.MethodGet, path, nil, nil)
		}
	}
	if err == nil {
		err = p.remote.Answered("/session/status", states) //nolint:contextcheck // effects live as long as the session
	}
	p.remote.Do(func() { idle = p.turn != nil && p.turn.idle })
	return idle, err
}
