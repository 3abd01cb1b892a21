package opencode

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/trace"
)

// protocol is a conversation on a server.
type protocol struct {
	*Decoder
	rt Runtime
	s  *remote.Session

	state  sync.Mutex // guards what follows
	id     string
	mode   string // OpenCode calls it an agent
	model  string
	modes  []trace.Mode
	models []trace.Model
}

// Place implements remote.Follower.
func (p *protocol) Place() string {
	p.state.Lock()
	defer p.state.Unlock()
	return p.id
}

func get(path string) remote.Call { return remote.Call{Method: http.MethodGet, Path: path} }

// greet makes a new connection ready, and finds or begins the conversation.
func (p *protocol) greet(ctx context.Context, _ *remote.Session) error {
	version, err := p.rt.health(func(c remote.Call, out any) error { return p.s.Exchange(ctx, c, out) })
	if err != nil {
		return err
	}
	p.s.Config().Logger.Debug("opencode: connected", "version", version)
	var agents []about
	if err := p.s.Fetch(ctx, get("/agent"), &agents); err != nil {
		return err
	}
	if err := p.locate(ctx, agentkit.Encode(map[string]any{"permission": p.rules(agents)})); err != nil {
		return err
	}
	p.describe(ctx, agents)
	return nil
}

// locate finds the conversation, and goes back if the token names an earlier moment.
func (p *protocol) locate(ctx context.Context, settings raw) error {
	at := agentkit.ParseBookmark(p.s.Token())
	var found info
	if at.Conversation != "" {
		err := p.s.Exchange(ctx, remote.Call{Method: http.MethodPatch, Path: "/session/" + at.Conversation, Body: settings}, &found)
		refused, _ := errors.AsType[*httpjson.Error](err)
		switch {
		case refused != nil && refused.Status == http.StatusNotFound:
			p.s.Notice(agentkit.SessionLost(p.rt.name()))
			at.Moment = ""
		case err != nil:
			return err
		}
	}
	if found.ID == "" {
		if err := p.s.Exchange(ctx, remote.Post("/session", settings), &found); err != nil {
			return err
		}
	}
	p.state.Lock()
	p.id = found.ID
	p.state.Unlock()
	var past []entry
	if err := p.s.Exchange(ctx, get(p.path("message")), &past); err != nil || at.Moment == "" {
		return err
	}
	reached := false
	for _, e := range past {
		if reached && e.Info.Role == "user" {
			return p.s.Fetch(ctx, remote.Post(p.path("revert"), map[string]string{"messageID": e.Info.ID}), nil)
		}
		reached = reached || e.Info.ID == at.Moment
	}
	if !reached {
		p.s.Notice(agentkit.PlaceLost(p.rt.name()))
	}
	return nil
}

// path is a path below the conversation's.
func (p *protocol) path(what string) string { return "/session/" + p.Place() + "/" + what }

// Run implements remote.Protocol.
func (p *protocol) Run(_ context.Context, prompt agent.Prompt) (remote.Call, error) {
	text := func(words string) map[string]string { return map[string]string{"type": "text", "text": words} }
	parts := agentkit.Blocks(prompt.Message.Parts, p.s.Inside, text, func(file agentkit.Attachment) (map[string]string, bool) {
		return map[string]string{"type": "file", "mime": file.Media, "url": file.Address(), "filename": file.Name}, file.Address() != ""
	})
	if len(parts) == 0 {
		return remote.Call{}, &agentkit.PromptError{Reason: "empty_prompt", Sentence: "The prompt holds nothing that " + p.rt.name() + " can read."}
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
	return remote.Post(path, body), nil
}

// Stop implements remote.Protocol.
func (p *protocol) Stop() (remote.Call, bool) {
	return remote.Call{Method: http.MethodPost, Path: p.path("abort")}, true
}

// GoOn implements remote.Protocol: the stream outlives the turns.
func (p *protocol) GoOn(context.Context, remote.Break) (*remote.Call, error) { return nil, nil } //nolint:nilnil // nothing more is to come

// CatchUp implements remote.Follower. The state is asked for before the messages and
// decoded after them, so that a turn does not end without its last words.
func (p *protocol) CatchUp(ctx context.Context) (idle bool, err error) {
	var states raw
	status := get("/session/status")
	err = p.s.Fetch(ctx, status, &states)
	for _, path := range []string{p.path("message"), "/permission", "/question"} {
		if err == nil {
			err = p.s.Exchange(ctx, get(path), nil)
		}
	}
	if err == nil {
		err = p.s.Answered(status, states) //nolint:contextcheck // effects live as long as the session
	}
	p.s.Do(func() { idle = p.turn != nil && p.turn.idle })
	return idle, err
}
