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
	quiet     *time.Timer // runs settle
	id        string      // of the session
}

var (
	_ agentkit.Protocol  = (*protocol)(nil)
	_ agentkit.Receiver  = (*protocol)(nil)
	_ agentkit.Leaver    = (*protocol)(nil)
	_ agent.Controllable = (*protocol)(nil)
)

func newProtocol(r Runtime, s Settings, c agentkit.Conn) *protocol {
	p := &protocol{runtime: r, settings: s, conn: c, terminals: newTerminals(c.Host(), c.Config(), r.Env)}
	p.Decoder = NewDecoder(Options{Tools: r.Tools, check: p.check, Signs: r.Preset.Signs, do: p.do, now: p.now})
	p.rpc = jsonrpc.New(c.Send, jsonrpc.Options{})
	for _, method := range []string{methodPermission, methodElicit, methodRead, methodWrite, methodTerminal} {
		p.rpc.Handle(method, nil) // the Decoder's effects answer them
	}
	for method, h := range p.terminals.handlers() {
		p.rpc.Handle(method, h)
	}
	p.quiet = time.AfterFunc(time.Hour, p.settle)
	p.quiet.Stop()
	return p
}

// errorf begins an error with the name of the agent.
func (p *protocol) errorf(format string, args ...any) error {
	return fmt.Errorf(p.runtime.name()+": "+format, args...)
}

// Received implements agentkit.Receiver.
func (p *protocol) Received(json.RawMessage) {
	p.rpc.Receive(p.newest)
	own := false
	p.conn.Session().Do(func() { own = p.turn != nil && p.turn.own })
	if own {
		p.quiet.Reset(quietTime)
	}
}

// quietTime is how long an agent is quiet that has ended a turn of its own: the protocol
// has no message for such an end.
const quietTime = 2 * time.Second

// settle ends a turn of the agent's own, unless a call or a request is still open.
func (p *protocol) settle() {
	var ended *turn
	p.conn.Session().Do(func() {
		switch c := p.turn; {
		case c == nil || !c.own:
		case p.busy():
			p.quiet.Reset(quietTime)
		default:
			p.endTurn(c, stopOf(""))
			ended = c
		}
	})
	if ended != nil {
		p.conn.Session().Fail(ended.b, stopOf("")) // the session forgets the turn, which has its end
	}
}

// Leave implements agentkit.Leaver.
func (p *protocol) Leave(ctx context.Context) {
	var id string
	p.conn.Session().Do(func() {
		if p.agent.Can.Session.Close != nil {
			id = p.session
		}
	})
	if id != "" {
		_ = p.rpc.Call(ctx, "session/close", object{"sessionId": id}, nil) // the process ends in any case
	}
}

// Close implements io.Closer.
func (p *protocol) Close() error {
	p.quiet.Stop()
	p.terminals.close()
	p.rpc.Close(agentkit.ErrEnded)
	return nil
}

// hello is what the agent has said of itself.
func (p *protocol) hello() (h hello) {
	p.conn.Session().Do(func() { h = p.agent })
	return h
}

// Greet implements agentkit.Protocol.
func (p *protocol) Greet(ctx context.Context, resume string) error {
	err := p.greet(ctx, resume)
	e, ok := errors.AsType[jsonrpc.Error](err)
	if !ok {
		return err
	}
	problem := sentence(explain(e))
	if e.Code == codeAuth {
		problem = p.hello().login(problem)
	}
	return p.errorf("%s", problem)
}

func (p *protocol) greet(ctx context.Context, resume string) error {
	files, terminals := on(p.settings.Files), on(p.settings.Terminals)
	err := p.rpc.Call(ctx, methodInitialize, object{
		"protocolVersion": 1,
		"clientInfo":      object{"name": "tributary", "title": "Tributary", "version": "1"},
		"clientCapabilities": object{
			"fs":       object{"readTextFile": files, "writeTextFile": files},
			"terminal": terminals, "elicitation": object{"form": object{}, "url": object{}},
		},
	}, nil)
	if e, ok := errors.AsType[jsonrpc.Error](err); ok && e.Code == jsonrpc.CodeMethodNotFound {
		return p.errorf("the program does not know the Agent Client Protocol: correct command and args")
	} else if err != nil {
		return err
	}
	h := p.hello()
	if h.Version != 1 {
		return p.errorf("it speaks version %d of the Agent Client Protocol, and version 1 is needed: install a matching version", h.Version)
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
		return p.errorf("it began a session without an id")
	}
	return p.configure(ctx)
}

func (p *protocol) authenticate(ctx context.Context, method string) error {
	h := p.hello()
	if len(h.AuthMethods) > 0 && !h.offers(method) {
		return p.errorf("%s", h.login(fmt.Sprintf("There is no method of logging in with the id %q.", method)))
	}
	err := p.rpc.Call(ctx, "authenticate", object{"methodId": method}, nil)
	if e, ok := errors.AsType[jsonrpc.Error](err); ok {
		return p.errorf("the login by %s failed: %s", method, h.login(sentence(explain(e))))
	}
	return err
}

// open begins a session, or goes on with one.
func (p *protocol) open(ctx context.Context, h hello, resume string) error {
	where := object{"cwd": p.conn.Config().Cwd, "mcpServers": p.settings.servers()}
	if resume == "" {
		return p.begin(ctx, methodNew, where)
	}
	method := ""
	switch {
	case h.Can.Session.Resume != nil:
		method = methodResume
	case h.Can.Load:
		method = methodLoad
	}
	if method != "" {
		where["sessionId"] = resume
		err := p.begin(ctx, method, where)
		if err == nil && p.runtime.Preset.ReplaysLate {
			err = p.replayed(ctx)
		}
		e, ok := errors.AsType[jsonrpc.Error](err)
		if !ok || e.Code == codeAuth {
			return err
		}
		p.conn.Config().Logger.Warn(p.runtime.name()+": it does not find its session any more", "session", resume, "error", explain(e))
		delete(where, "sessionId")
	}
	p.conn.Session().Notice(trace.Error{Code: "session_lost", Message: "The agent's own session was lost; it starts without memory."})
	return p.begin(ctx, methodNew, where)
}

// replayGap and replayEnd are how long an agent is silent when it has told the past of a
// session, and how long the telling may take.
const (
	replayGap = 250 * time.Millisecond
	replayEnd = 10 * time.Second
)

// replayed waits until an agent that tells the past behind its reply has told all of it.
// The next turn would take the past for its own.
func (p *protocol) replayed(ctx context.Context) error {
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

// begin opens a session. An agent that wants a login gets the one for which its
// environment holds a key.
func (p *protocol) begin(ctx context.Context, method string, where object) error {
	err := p.rpc.Call(ctx, method, where, nil)
	e, ok := errors.AsType[jsonrpc.Error](err)
	if !ok || e.Code != codeAuth || p.settings.AuthMethod != "" {
		return err
	}
	for _, variable := range slices.Sorted(maps.Keys(p.runtime.Preset.Keys)) {
		id := p.runtime.Preset.Keys[variable]
		set := slices.ContainsFunc(p.runtime.Env, func(kv string) bool { return strings.HasPrefix(kv, variable+"=") })
		if set && p.hello().offers(id) {
			if err := p.authenticate(ctx, id); err != nil {
				return err
			}
			return p.rpc.Call(ctx, method, where, nil)
		}
	}
	return err
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
	_, line, err := p.rpc.Request(methodPrompt, object{"sessionId": p.id, "prompt": content})
	return line, err
}

// Stop implements agentkit.Protocol.
func (p *protocol) Stop() json.RawMessage {
	line, _ := p.rpc.Notification(methodCancel, object{"sessionId": p.id}) // strings can be encoded
	return line
}

// hello is the agent's reply to initialize.
type hello struct {
	Version int `json:"protocolVersion"`
	Info    struct {
		Name string `json:"name"`
	} `json:"agentInfo"`
	Can struct {
		Load   bool `json:"loadSession"`
		Prompt struct {
			Image   bool `json:"image"`
			Audio   bool `json:"audio"`
			Context bool `json:"embeddedContext"`
		} `json:"promptCapabilities"`
		Session struct {
			Resume *raw `json:"resume"`
			Close  *raw `json:"close"`
		} `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
	AuthMethods []authMethod `json:"authMethods"`
}

// authMethod is a way to log in.
type authMethod struct {
	ID   string   `json:"id"`
	Name string   `json:"name"`
	Type string   `json:"type"`
	Args []string `json:"args"`
}

// is reports whether the agent is one of a family, by the name that it gives itself.
func (h hello) is(family string) bool { return strings.Contains(strings.ToLower(h.Info.Name), family) }

func (h hello) offers(method string) bool {
	return slices.ContainsFunc(h.AuthMethods, func(m authMethod) bool { return m.ID == method })
}

// login adds to an error how a person logs in.
func (h hello) login(problem string) string {
	var ways []string
	for _, m := range h.AuthMethods {
		way := fmt.Sprintf("%q (%s)", m.ID, cmp.Or(m.Name, m.ID))
		if m.Type == "terminal" && len(m.Args) > 0 {
			way += ", by running the agent with `" + strings.Join(m.Args, " ") + "` in a terminal"
		}
		ways = append(ways, way)
	}
	advice := "Log in by running the agent once in a terminal, or give it a key in `env`."
	if len(ways) > 0 {
		advice += " Its methods of logging in, for the option auth_method: " + strings.Join(ways, "; ") + "."
	}
	return strings.TrimSpace(problem + " " + advice)
}
