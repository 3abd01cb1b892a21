package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// protocol is one process of the app-server.
type protocol struct {
	*Decoder
	conn     agentkit.Conn
	rpc      *jsonrpc.Conn
	settings Settings
	model    *atomic.Pointer[string] // the session's model; "" is Codex's default
	thread   string                  // the conversation; set by Greet
}

var (
	_ agentkit.Protocol  = (*protocol)(nil)
	_ agentkit.Receiver  = (*protocol)(nil)
	_ agent.Controllable = (*protocol)(nil)
)

func newProtocol(conn agentkit.Conn, settings Settings, tools *toolkind.Table, model *atomic.Pointer[string]) *protocol {
	rpc := jsonrpc.New(conn.Send, jsonrpc.Options{Bare: true})
	p := &protocol{Decoder: NewDecoder(Options{Tools: tools}), conn: conn, rpc: rpc, settings: settings, model: model}
	p.live = true
	for _, method := range methods() {
		p.rpc.Handle(method, nil) // the Decoder's effects answer
	}
	return p
}

// Received implements agentkit.Receiver.
func (p *protocol) Received(line json.RawMessage) { _, _ = p.rpc.Take(line) } // the Decoder has told of a line that is no message

// Close ends what waits for replies of the process.
func (p *protocol) Close() error {
	p.rpc.Close(agentkit.ErrEnded)
	return nil
}

// Greet implements agentkit.Protocol.
func (p *protocol) Greet(ctx context.Context, resume string) error {
	var hello struct{ UserAgent string }
	client := object{"name": "tributary", "title": "Tributary", "version": "1"}
	if err := p.rpc.Call(ctx, "initialize", object{"clientInfo": client, "capabilities": object{}}, &hello); err != nil {
		return fmt.Errorf("codex: it refuses to start: %w", err)
	}
	_, version, _ := strings.Cut(hello.UserAgent, "/")
	version, _, _ = strings.Cut(version, " ")
	if err := tooOld(version); err != nil {
		return err
	}
	if err := p.rpc.Notify(ctx, "initialized", nil); err != nil {
		return err
	}
	if err := p.loggedIn(ctx); err != nil {
		return err
	}
	if err := p.open(ctx, parsePlace(resume)); err != nil {
		return fmt.Errorf("codex: %w", err)
	}
	p.conn.Session().Go(p.models)
	return nil
}

// loggedIn reports whether Codex can reach its model. A provider with a key of its own
// needs no account.
func (p *protocol) loggedIn(ctx context.Context) error {
	var r struct {
		Account            raw
		RequiresOpenaiAuth bool
	}
	if err := p.rpc.Call(ctx, "account/read", object{}, &r); err != nil {
		return fmt.Errorf("codex: it cannot say who is logged in: %w", err)
	}
	if r.RequiresOpenaiAuth && empty(r.Account) {
		return errors.New("codex: it is not logged in" + advice("not logged in"))
	}
	return nil
}

// open resumes the conversation, or begins one.
func (p *protocol) open(ctx context.Context, at place) error {
	cfg := p.conn.Config()
	params := object{"cwd": cfg.Cwd, "approvalPolicy": p.settings.Approval, "sandbox": p.settings.Sandbox}
	if model := *p.model.Load(); model != "" {
		params["model"] = model
	}
	if at.thread != "" {
		resume := maps.Clone(params)
		resume["threadId"], resume["excludeTurns"] = at.thread, true
		err := p.rpc.Call(ctx, "thread/resume", resume, nil)
		switch {
		case err == nil:
			p.thread = at.thread
			return p.goBack(ctx, at)
		case strings.Contains(err.Error(), "active writer"):
			return fmt.Errorf("another Codex works on this conversation (%s): close it there, then ask again", at.thread)
		case !strings.Contains(err.Error(), "no rollout found") && !strings.Contains(err.Error(), "invalid session id"):
			return fmt.Errorf("it cannot resume the conversation %s: %w", at.thread, err)
		}
		p.conn.Session().Notice(trace.Error{Code: "session_lost", Message: "Codex does not know this conversation any more; it starts without memory."})
	}
	var r struct{ Thread thread }
	if err := p.rpc.Call(ctx, "thread/start", params, &r); err != nil {
		return fmt.Errorf("it cannot begin a conversation: %w", err)
	}
	p.thread = r.Thread.ID
	return nil
}

// goBack removes the turns after a place from the conversation.
func (p *protocol) goBack(ctx context.Context, at place) error {
	if at.turn == "" {
		return nil
	}
	after, cursor := "", any(nil)
	for {
		var page struct {
			Data       []turnWire
			NextCursor *string
		}
		if err := p.rpc.Call(ctx, "thread/turns/list", object{"threadId": at.thread, "cursor": cursor, "itemsView": "notLoaded"}, &page); err != nil {
			return fmt.Errorf("it cannot list the turns of the conversation %s: %w", at.thread, err)
		}
		for _, t := range page.Data { // the newest comes first
			switch {
			case t.ID != at.turn:
				after = t.ID
			case after == "":
				return nil
			default:
				err := p.rpc.Call(ctx, "thread/revert", object{"threadId": at.thread, "beforeTurnId": after}, nil)
				if err != nil {
					return fmt.Errorf("it cannot go back in the conversation %s: %w", at.thread, err)
				}
				return nil
			}
		}
		if page.NextCursor == nil {
			p.conn.Session().Notice(trace.Error{Code: "place_lost", Message: "Codex does not find its place in this conversation any more, so it may still remember what was removed."})
			return nil
		}
		cursor = *page.NextCursor
	}
}

// models tells which models there are.
func (p *protocol) models(ctx context.Context) {
	var r struct {
		Data []struct {
			ID, DisplayName, Description string
			IsDefault                    bool
		}
	}
	if err := p.rpc.Call(ctx, "model/list", object{}, &r); err != nil || len(r.Data) == 0 {
		return // the session works without
	}
	current := *p.model.Load()
	var all []trace.Model
	for _, m := range r.Data {
		all = append(all, trace.Model{ID: m.ID, Name: m.DisplayName, Description: m.Description})
		if m.IsDefault && current == "" {
			current = m.ID
		}
	}
	p.conn.Host().Note(trace.Models(current, all))
}

// Prompt implements agentkit.Protocol.
func (p *protocol) Prompt(_ context.Context, prompt agent.Prompt) (json.RawMessage, error) {
	in := inputs(prompt.Message.Parts)
	if len(in) == 0 {
		return nil, &agentkit.PromptError{Reason: "empty_prompt", Sentence: "The prompt holds nothing that Codex can read."}
	}
	params := object{"threadId": p.thread, "input": in}
	if model := *p.model.Load(); model != "" {
		params["model"] = model
	}
	_, line, err := p.rpc.Request("turn/start", params)
	return line, err
}

// Stop implements agentkit.Protocol. A turn whose id is not known yet is interrupted by
// the Decoder once it begins.
func (p *protocol) Stop() json.RawMessage {
	id := p.running()
	_, line, err := p.rpc.Request("turn/interrupt", object{"threadId": p.thread, "turnId": id})
	if err != nil {
		return nil
	}
	return line
}

// Controls implements agent.Controllable.
func (p *protocol) Controls() agent.Controls {
	return agent.Controls{Steer: p.steer, SetModel: func(_ context.Context, id string) error {
		p.model.Store(&id) // the next turn says so to Codex
		p.conn.Session().Go(p.models)
		return nil
	}}
}

func (p *protocol) steer(ctx context.Context, prompt agent.Prompt) error {
	id := p.running()
	if id == "" {
		return errors.New("codex: no turn runs that could take the message")
	}
	if err := p.rpc.Call(ctx, "turn/steer", object{"threadId": p.thread, "expectedTurnId": id, "input": inputs(prompt.Message.Parts)}, nil); err != nil {
		return fmt.Errorf("codex: the running turn does not take the message: %w", err)
	}
	return nil
}

// running is the agent's id of the running turn, or "".
func (p *protocol) running() (id string) {
	p.conn.Session().Do(func() {
		if p.turn != nil && !p.turn.b.Over() {
			id = p.turn.id
		}
	})
	return id
}

// place is a moment of a conversation: the end of a turn.
type place struct{ thread, turn string }

func (p place) token() string { return p.thread + "@" + p.turn }

func parsePlace(token string) place {
	thread, turn, _ := strings.Cut(token, "@")
	return place{thread, turn}
}
