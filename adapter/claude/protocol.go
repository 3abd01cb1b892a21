package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// protocol is one process of Claude Code.
type protocol struct {
	*Decoder
	conn     agentkit.Conn
	answered chan controlResponse // to initialize
	hooks    bool                 // are to come before each call
	requests atomic.Int64         // so far, for ids
}

var (
	_ agentkit.Protocol  = (*protocol)(nil)
	_ agentkit.Relocator = (*protocol)(nil)
)

func (r Runtime) protocol(conn agentkit.Conn, resume string) *protocol {
	p := &protocol{Decoder: NewDecoder(Options{Tools: r.Tools}), conn: conn, hooks: !r.Unguarded, answered: make(chan controlResponse, 1)}
	p.starting, p.hello, p.at, p.stored = true, p.answered, agentkit.ParseBookmark(resume), resume
	return p
}

// helloID is the id of the initialize request.
const helloID = "gateway-hello"

// Greet implements agentkit.Protocol.
func (p *protocol) Greet(ctx context.Context, _ string) error {
	answer, err := p.initialize(ctx, p.hooks)
	if err == nil && answer.Subtype == "error" && p.hooks { // an old release may know no hooks
		p.conn.Session().Do(func() { p.hello = p.answered })
		answer, err = p.initialize(ctx, false)
	}
	if err != nil {
		return err
	}
	if answer.Subtype == "error" {
		return fmt.Errorf("claude: it refuses to start: %s", plainText(orNull(answer.Error)))
	}
	p.conn.Session().Do(func() { p.starting = false })
	return nil
}

// initialize makes the first request, and returns its answer.
func (p *protocol) initialize(ctx context.Context, hooks bool) (controlResponse, error) {
	if err := p.conn.Send(ctx, request(helloID, hello(hooks))); err != nil {
		return controlResponse{}, err
	}
	return agentkit.Await(ctx, p.conn, p.answered)
}

// Prompt implements agentkit.Protocol.
func (p *protocol) Prompt(_ context.Context, prompt agent.Prompt) (json.RawMessage, error) {
	if err := agentkit.RefuseCommands(prompt.Message, LooseCommands()); err != nil {
		return nil, err
	}
	line := userLine(prompt, p.conn.Session().Inside)
	if line == nil {
		return nil, &agentkit.PromptError{Reason: "empty_prompt", Sentence: "The prompt holds nothing that Claude Code can read."}
	}
	return line, nil
}

// LooseCommands are the agent's own commands that can switch its permission requests off.
func LooseCommands() []string { return []string{"config", "settings"} }

// Stop implements agentkit.Protocol.
func (p *protocol) Stop() json.RawMessage { return p.request(raw(`{"subtype":"interrupt"}`)) }

// request makes a request with an id of its own.
func (p *protocol) request(body raw) json.RawMessage {
	return request(fmt.Sprintf("gateway-%d", p.requests.Add(1)), body)
}

// Controls implements agent.Controllable.
func (p *protocol) Controls() agent.Controls {
	set := func(subtype, key string) func(context.Context, string) error {
		return func(ctx context.Context, id string) error {
			if err := checkMode(id); key == "mode" && err != nil {
				return err
			}
			return p.conn.Send(ctx, p.request(agentkit.Encode(map[string]string{"subtype": subtype, key: id})))
		}
	}
	return agent.Controls{SetMode: set("set_permission_mode", "mode"), SetModel: set("set_model", "model")}
}

// Relocate implements agentkit.Relocator.
func (p *protocol) Relocate(resume, stderr string) (next string, notice trace.Error, ok bool) {
	at, notice, ok := elsewhere(agentkit.ParseBookmark(resume), stderr+"\n"+p.startError)
	return at.Token(), notice, ok
}

// request makes a request to the agent.
func request(id string, body raw) json.RawMessage {
	return agentkit.Encode(map[string]any{"type": "control_request", "request_id": id, "request": body})
}

// advice is what to do about an error, if that is known.
func advice(text string) string {
	return agentkit.Advice(text, "log in by running `claude` once in a terminal, or set ANTHROPIC_API_KEY",
		"/login", "not logged in", "invalid api key", "authentication_error")
}
