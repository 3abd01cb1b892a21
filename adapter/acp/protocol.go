package acp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/trace"
)

// protocol is one process of an agent.
type protocol struct {
	*Decoder
	peer
	conn      agentkit.Conn
	terminals *terminals
	quiet     *time.Timer // runs settle
	replied   time.Time   // when the newest reply to a prompt came
	endsEarly bool        // the agent says more behind its replies; guarded by the session
	id        string      // of the session
}

var (
	_ agentkit.Protocol  = (*protocol)(nil)
	_ agentkit.Receiver  = (*protocol)(nil)
	_ agentkit.Holder    = (*protocol)(nil)
	_ agentkit.Leaver    = (*protocol)(nil)
	_ agent.Controllable = (*protocol)(nil)
)

func newProtocol(r Runtime, s Settings, c agentkit.Conn) *protocol {
	p := &protocol{endsEarly: r.Preset.EndsEarly, peer: peer{runtime: r, settings: s, rpc: jsonrpc.New(c.Send, jsonrpc.Options{})}, conn: c, terminals: newTerminals(c.Host(), c.Config(), r.Env)}
	p.Decoder = NewDecoder(Options{Tools: r.Tools, check: p.check, Signs: r.Preset.Signs, LooseTools: r.Preset.LooseTools, do: p.do, now: func(path string) (string, bool) {
		return contentOf(p.conn.Host().Files(), path)
	}})
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

// Received implements agentkit.Receiver.
func (p *protocol) Received(json.RawMessage) {
	p.rpc.Receive(p.newest)
	own := false
	p.conn.Session().Do(func() {
		own = p.turn != nil && p.turn.own
		p.endsEarly = p.endsEarly || own && p.turn.parts > 0 && time.Since(p.replied) < learnTime
	})
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

// Greet implements agentkit.Protocol.
func (p *protocol) Greet(ctx context.Context, resume string) error {
	return p.explained(p.greet(ctx, resume))
}

func (p *protocol) greet(ctx context.Context, resume string) error {
	files, terminals := on(p.settings.Files), on(p.settings.Terminals)
	err := p.initialize(ctx, object{
		"fs":       object{"readTextFile": files, "writeTextFile": files},
		"terminal": terminals, "elicitation": object{"form": object{}, "url": object{}},
	})
	if err != nil {
		return err
	}
	if err := p.open(ctx, resume); err != nil {
		return err
	}
	p.conn.Session().Do(func() { p.id = p.session })
	if p.id == "" {
		return p.errorf("it began a session without an id")
	}
	return p.configure(ctx)
}

// open begins a session, or goes on with one.
func (p *protocol) open(ctx context.Context, resume string) error {
	where := object{"cwd": p.conn.Config().Cwd, "mcpServers": p.settings.servers()}
	if m := p.runtime.Preset.Meta; m != nil {
		where["_meta"] = m
	}
	if resume == "" {
		return p.call(ctx, methodNew, where, nil)
	}
	method := ""
	switch {
	case p.hello.Can.Session.Resume != nil:
		method = methodResume
	case p.hello.Can.Load:
		method = methodLoad
	}
	if method != "" {
		where["sessionId"] = resume
		err := p.call(ctx, method, where, nil)
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
	return p.call(ctx, methodNew, where, nil)
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

// Prompt implements agentkit.Protocol.
func (p *protocol) Prompt(_ context.Context, prompt agent.Prompt) (json.RawMessage, error) {
	if err := agentkit.RefuseCommands(prompt.Message, p.runtime.Preset.looseCommands()); err != nil {
		return nil, err
	}
	content := blocks(prompt.Message.Parts, p.conn.Session().Inside, p.hello)
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
