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
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// protocol is one process of the app-server.
type protocol struct {
	*Decoder
	conn     agentkit.Conn
	rpc      *jsonrpc.Conn
	settings Settings
	model    *atomic.Pointer[string] // the session's model; "" is Codex's default
	reads    atomic.Bool             // readIdle runs
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
func (p *protocol) Received(line json.RawMessage) {
	refused := false
	p.conn.Session().Do(func() { refused = p.refused })
	if refused {
		return
	}
	m, _ := p.rpc.Take(line) // the Decoder has told of a line that is no message
	if m.Method == "thread/status/changed" {
		p.conn.Session().Go(p.readIdle)
	}
}

// Close ends what waits for replies of the process.
func (p *protocol) Close() error {
	p.rpc.Close(agentkit.ErrEnded)
	return nil
}

// Greet implements agentkit.Protocol.
func (p *protocol) Greet(ctx context.Context, resume string) error {
	if err := initialize(ctx, p.rpc); err != nil {
		return err
	}
	if err := p.loggedIn(ctx); err != nil {
		return err
	}
	if err := p.open(ctx, agentkit.ParseBookmark(resume)); err != nil {
		return fmt.Errorf("codex: %w", err)
	}
	p.conn.Session().Go(p.models)
	return nil
}

// initialize is the beginning of every connection.
func initialize(ctx context.Context, rpc *jsonrpc.Conn) error {
	var hello struct{ UserAgent string }
	client := object{"name": "tributary", "title": "Tributary", "version": "1"}
	if err := rpc.Call(ctx, "initialize", object{"clientInfo": client, "capabilities": object{}}, &hello); err != nil {
		return fmt.Errorf("codex: it refuses to start: %w", err)
	}
	if err := tooOld(versionIn(hello.UserAgent)); err != nil {
		return err
	}
	return rpc.Notify(ctx, "initialized", nil)
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
func (p *protocol) open(ctx context.Context, at agentkit.Bookmark) error {
	cfg := p.conn.Config()
	params := object{
		"cwd": cfg.Cwd, "approvalPolicy": p.settings.Approval, "sandbox": p.settings.Sandbox, "approvalsReviewer": "user", // not a model of its choice
		// Else rules and servers in files of the workspace run what nobody is asked about.
		"config": object{"notify": []string{}, "projects": object{cfg.Cwd: object{"trust_level": "untrusted"}}},
	}
	if model := *p.model.Load(); model != "" {
		params["model"] = model
	}
	if at.Conversation != "" {
		resume := maps.Clone(params)
		resume["threadId"], resume["excludeTurns"] = at.Conversation, true
		err := p.rpc.Call(ctx, "thread/resume", resume, nil)
		switch {
		case err == nil:
			return p.goBack(ctx, at)
		case strings.Contains(err.Error(), "active writer"):
			return fmt.Errorf("another Codex works on this conversation (%s): close it there, then ask again", at.Conversation)
		case !strings.Contains(err.Error(), "no rollout found") && !strings.Contains(err.Error(), "invalid session id"):
			return fmt.Errorf("it cannot resume the conversation %s: %w", at.Conversation, err)
		}
		p.conn.Session().Notice(agentkit.SessionLost(name))
	}
	if err := p.rpc.Call(ctx, "thread/start", params, nil); err != nil {
		return fmt.Errorf("it cannot begin a conversation: %w", err)
	}
	return nil
}

// goBack removes the turns after a place from the conversation.
func (p *protocol) goBack(ctx context.Context, at agentkit.Bookmark) error {
	if at.Moment == "" {
		return nil
	}
	after, cursor := "", any(nil)
	for {
		var page struct {
			Data       []turnWire
			NextCursor *string
		}
		if err := p.rpc.Call(ctx, "thread/turns/list", object{"threadId": at.Conversation, "cursor": cursor, "itemsView": "notLoaded"}, &page); err != nil {
			return fmt.Errorf("it cannot list the turns of the conversation %s: %w", at.Conversation, err)
		}
		for _, t := range page.Data { // the newest comes first
			switch {
			case t.ID != at.Moment:
				after = t.ID
			case after == "":
				return nil
			default:
				err := p.rpc.Call(ctx, "thread/revert", object{"threadId": at.Conversation, "beforeTurnId": after}, nil)
				if err != nil {
					return fmt.Errorf("it cannot go back in the conversation %s: %w", at.Conversation, err)
				}
				return nil
			}
		}
		if page.NextCursor == nil {
			p.conn.Session().Notice(agentkit.PlaceLost(name))
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
	in := inputs(prompt.Message.Parts, p.conn.Session().Inside)
	if len(in) == 0 {
		return nil, &agentkit.PromptError{Reason: "empty_prompt", Sentence: "The prompt holds nothing that Codex can read."}
	}
	thread, _ := p.running()
	params := object{"threadId": thread, "input": in}
	if model := *p.model.Load(); model != "" {
		params["model"] = model
	}
	_, line, err := p.rpc.Request("turn/start", params)
	return line, err
}

// Stop implements agentkit.Protocol. A turn whose id is not known yet is interrupted by
// the Decoder once it begins.
func (p *protocol) Stop() json.RawMessage {
	thread, id := p.running()
	_, line, err := p.rpc.Request("turn/interrupt", object{"threadId": thread, "turnId": id})
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
	thread, id := p.running()
	if id == "" {
		return errors.New("codex: no turn runs that could take the message")
	}
	in := inputs(prompt.Message.Parts, p.conn.Session().Inside)
	if err := p.rpc.Call(ctx, "turn/steer", object{"threadId": thread, "expectedTurnId": id, "input": in}, nil); err != nil {
		return fmt.Errorf("codex: the running turn does not take the message: %w", err)
	}
	return nil
}

// running are the agent's ids of the conversation and of the turn that runs, or "".
func (p *protocol) running() (thread, turn string) {
	p.conn.Session().Do(func() {
		thread = p.thread
		if c := p.current(); c != nil {
			turn = c.id
		}
	})
	return thread, turn
}
