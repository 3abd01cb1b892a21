package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/trace"
)

// protocol is one process of an agent.
type protocol struct {
	*Decoder
	runtime   Runtime
	settings  Settings
	conn      agentkit.Conn
	rpc       *jsonrpc.Conn
	terminals *terminals
	id        string // of the session
}

var (
	_ agentkit.Protocol  = (*protocol)(nil)
	_ agentkit.Receiver  = (*protocol)(nil)
	_ agent.Controllable = (*protocol)(nil)
)

func newProtocol(r Runtime, s Settings, c agentkit.Conn) *protocol {
	p := &protocol{runtime: r, settings: s, conn: c, terminals: newTerminals(c.Host(), c.Config().Cwd, r.Env)}
	p.Decoder = NewDecoder(Options{Tools: r.Tools, Act: p.act, Signs: r.Preset.Signs})
	p.rpc = jsonrpc.New(c.Send, jsonrpc.Options{})
	for _, method := range []string{methodPermission, methodElicit, methodWrite, methodTermCreate} {
		p.rpc.Handle(method, nil) // the Decoder's effects answer them
	}
	if on(s.Files) {
		p.rpc.Handle(methodRead, p.read)
	}
	for method, h := range p.terminals.handlers() {
		p.rpc.Handle(method, h)
	}
	return p
}

// Received implements agentkit.Receiver.
func (p *protocol) Received(json.RawMessage) {
	p.rpc.Receive(p.newest)
}

// Close implements io.Closer.
func (p *protocol) Close() error {
	p.terminals.close()
	p.rpc.Close(agentkit.ErrEnded)
	return nil
}

// Greet implements agentkit.Protocol.
func (p *protocol) Greet(ctx context.Context, resume string) error {
	err := p.greet(ctx, resume)
	if e, ok := errors.AsType[jsonrpc.Error](err); ok {
		return fmt.Errorf("%s: %s", p.runtime.name(), p.explain(e))
	}
	return err
}

func (p *protocol) explain(e jsonrpc.Error) string {
	problem := sentence(explain(e))
	if e.Code == codeAuth {
		return p.hello().login(problem)
	}
	return problem
}

// hello is what the agent has said of itself.
func (p *protocol) hello() (h hello) {
	p.conn.Session().Do(func() { h = p.agent })
	return h
}

func (p *protocol) greet(ctx context.Context, resume string) error {
	if err := p.rpc.Call(ctx, methodInitialize, p.introduction(), nil); err != nil {
		if e, ok := errors.AsType[jsonrpc.Error](err); ok && e.Code == jsonrpc.CodeMethodNotFound {
			return fmt.Errorf("%s: the program does not know the Agent Client Protocol: correct command and args", p.runtime.name())
		}
		return err
	}
	h := p.hello()
	if h.Version != 1 {
		return fmt.Errorf("%s: it speaks version %d of the Agent Client Protocol, and version 1 is needed: install a matching version", p.runtime.name(), h.Version)
	}
	if m := p.settings.AuthMethod; m != "" {
		if err := p.authenticate(ctx, m); err != nil {
			return err
		}
	}
	if err := p.open(ctx, h, resume); err != nil {
		return err
	}
	p.conn.Session().Do(func() { p.id = p.session })
	if p.id == "" {
		return fmt.Errorf("%s: it began a session without an id", p.runtime.name())
	}
	return p.configure(ctx)
}

func (p *protocol) introduction() any {
	files, terminals := on(p.settings.Files), on(p.settings.Terminals)
	return map[string]any{
		"protocolVersion": 1,
		"clientInfo":      map[string]string{"name": "tributary", "title": "Tributary", "version": "1"},
		"clientCapabilities": map[string]any{
			"fs":       map[string]bool{"readTextFile": files, "writeTextFile": files},
			"terminal": terminals, "elicitation": map[string]any{"form": map[string]any{}, "url": map[string]any{}},
		},
	}
}

func (p *protocol) authenticate(ctx context.Context, method string) error {
	h := p.hello()
	if len(h.AuthMethods) > 0 && !slices.ContainsFunc(h.AuthMethods, func(m authMethod) bool { return m.ID == method }) {
		return fmt.Errorf("%s: %s", p.runtime.name(), h.login(fmt.Sprintf("There is no method of logging in with the id %q.", method)))
	}
	err := p.rpc.Call(ctx, methodAuthenticate, map[string]string{"methodId": method}, nil)
	if e, ok := errors.AsType[jsonrpc.Error](err); ok {
		return fmt.Errorf("%s: the login by %s failed: %s", p.runtime.name(), method, h.login(sentence(explain(e))))
	}
	return err
}

// open begins a session, or goes on with one. An agent that wants a login gets the one
// for which its environment holds a key.
func (p *protocol) open(ctx context.Context, h hello, resume string) error {
	where := map[string]any{"cwd": p.conn.Config().Cwd, "mcpServers": p.settings.servers()}
	if resume != "" {
		where["sessionId"] = resume
		method := ""
		switch {
		case h.Can.Session.Resume != nil:
			method = methodResume
		case h.Can.Load:
			method = methodLoad
		}
		if method != "" {
			err := p.begin(ctx, method, where)
			if err == nil && p.runtime.Preset.ReplaysLate {
				err = p.quiet(ctx)
			}
			e, ok := errors.AsType[jsonrpc.Error](err)
			if err == nil || !ok || e.Code == codeAuth {
				return err
			}
			p.conn.Config().Logger.Warn(p.runtime.name()+": it does not find its session any more", "session", resume, "error", explain(e))
		}
		p.conn.Session().Notice(trace.Error{Code: "session_lost", Message: "The agent's own session was lost; it starts without memory."})
		delete(where, "sessionId")
		p.conn.Session().Do(func() { p.session = "" })
	}
	return p.begin(ctx, methodNew, where)
}

// replayGap and replayEnd are how long an agent is silent when it has told the past of a
// session, and how long the telling may take.
const (
	replayGap = 250 * time.Millisecond
	replayEnd = 10 * time.Second
)

// quiet waits until an agent that tells the past behind its reply has told all of it. The
// next turn would take the past for its own.
func (p *protocol) quiet(ctx context.Context) error {
	heard := func() (n int) {
		p.conn.Session().Do(func() { n = p.heard })
		return n
	}
	for start, before := time.Now(), -1; before != heard() && time.Since(start) < replayEnd; {
		before = heard()
		select {
		case <-time.After(replayGap):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (p *protocol) begin(ctx context.Context, method string, where any) error {
	err := p.rpc.Call(ctx, method, where, nil)
	e, ok := errors.AsType[jsonrpc.Error](err)
	if !ok || e.Code != codeAuth || p.settings.AuthMethod != "" {
		return err
	}
	for _, variable := range slices.Sorted(maps.Keys(p.runtime.Preset.Keys)) {
		id := p.runtime.Preset.Keys[variable]
		set := slices.ContainsFunc(p.runtime.Env, func(kv string) bool { return strings.HasPrefix(kv, variable+"=") })
		offered := slices.ContainsFunc(p.hello().AuthMethods, func(m authMethod) bool { return m.ID == id })
		if set && offered {
			if err := p.authenticate(ctx, id); err != nil {
				return err
			}
			return p.rpc.Call(ctx, method, where, nil)
		}
	}
	return err
}

// configure sets the mode, the model and what else the configuration says.
func (p *protocol) configure(ctx context.Context) error {
	var has settings
	p.conn.Session().Do(func() { has = p.config })
	if id := p.settings.Mode; id != "" {
		if err := p.set(ctx, has, "mode", id, methodSetMode, "modeId"); err != nil {
			return err
		}
	}
	if id := p.conn.Config().Model; id != "" {
		if err := p.set(ctx, has, "model", id, methodSetModel, "modelId"); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.settings.Config)) {
		if err := p.setOption(ctx, has, id, p.settings.Config[id]); err != nil {
			return err
		}
	}
	return nil
}

// set sets the mode or the model, by a config option where the agent has one.
func (p *protocol) set(ctx context.Context, has settings, what, id, method, key string) error {
	if _, ok := has.find(what); ok {
		return p.setOption(ctx, has, what, id)
	}
	err := p.rpc.Call(ctx, method, map[string]string{"sessionId": p.id, key: id}, nil)
	if e, ok := errors.AsType[jsonrpc.Error](err); ok {
		return fmt.Errorf("%s: it does not take the %s %q: %s", p.runtime.name(), what, id, sentence(explain(e)))
	}
	return err
}

func (p *protocol) setOption(ctx context.Context, has settings, name string, value any) error {
	o, ok := has.find(name)
	if !ok {
		var ids []string
		for _, o := range has.Options {
			ids = append(ids, o.ID)
		}
		return fmt.Errorf("%s: it has no setting %q: its settings are %s", p.runtime.name(), name, cmp.Or(strings.Join(ids, ", "), "none"))
	}
	params := map[string]any{"sessionId": p.id, "configId": o.ID, "value": value}
	if o.Type == "boolean" {
		params["type"] = "boolean"
	}
	err := p.rpc.Call(ctx, methodSetOption, params, nil)
	if e, ok := errors.AsType[jsonrpc.Error](err); ok {
		var values []string
		for _, c := range o.choices() {
			values = append(values, c.Value)
		}
		return fmt.Errorf("%s: it does not take %v for %s: %s Its values are %s.", p.runtime.name(), value, name, sentence(explain(e)), cmp.Or(strings.Join(values, ", "), "unknown")) //nolint:staticcheck // two sentences
	}
	return err
}

// Controls implements agent.Controllable.
func (p *protocol) Controls() agent.Controls {
	var has settings
	p.conn.Session().Do(func() { has = p.config })
	var c agent.Controls
	if _, ok := has.find("mode"); ok || len(has.Modes.Available) > 0 {
		c.SetMode = func(ctx context.Context, id string) error {
			if p.runtime.Preset.loose(id) {
				return fmt.Errorf("%s: the mode %s lets the agent act without asking, which is not allowed", p.runtime.name(), id)
			}
			return p.set(ctx, has, "mode", id, methodSetMode, "modeId")
		}
	}
	if _, ok := has.find("model"); ok || len(has.Models.Available) > 0 {
		c.SetModel = func(ctx context.Context, id string) error {
			return p.set(ctx, has, "model", id, methodSetModel, "modelId")
		}
	}
	return c
}

// Prompt implements agentkit.Protocol.
func (p *protocol) Prompt(_ context.Context, prompt agent.Prompt) (json.RawMessage, error) {
	if err := agentkit.RefuseCommands(prompt.Message, p.runtime.Preset.looseCommands()); err != nil {
		return nil, err
	}
	if p.runtime.Preset.Mentions || p.runtime.Preset.Name == "" {
		prompt = agentkit.WithoutMentions(prompt, p.conn.Host().Files().Contains)
	}
	content := blocks(prompt.Message.Parts, p.hello())
	if len(content) == 0 {
		return nil, &agentkit.PromptError{Reason: "empty_prompt", Sentence: "The prompt holds nothing that the agent can read."}
	}
	_, line, err := p.rpc.Request(methodPrompt, map[string]any{"sessionId": p.id, "prompt": content})
	return line, err
}

// Stop implements agentkit.Protocol.
func (p *protocol) Stop() json.RawMessage {
	line, _ := p.rpc.Notification(methodCancel, map[string]string{"sessionId": p.id}) // strings can be encoded
	return line
}
