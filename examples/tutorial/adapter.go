// Package tutorial is the adapter of docs/agents/write-an-adapter.md: an agent that is a process and
// speaks in lines of JSON.
package tutorial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// Adapter describes the agent to the program tributary.
func Adapter() agent.Adapter {
	return agent.Adapter{
		Name: "parrot", Keys: agent.ProcessKeys(),
		New: func(s agent.Settings) (agent.Runtime, error) {
			return Runtime{Command: s.Command, Env: s.Environ}, nil
		},
		Decoder: func(agent.Settings) agent.Decoder { return Decoder{} },
	}
}

// message is one line of the parrot, or one line to it.
type message struct {
	Prompt  string `json:"prompt,omitempty"`
	Answer  string `json:"answer,omitempty"`
	Allow   bool   `json:"allow,omitempty"`
	Stop    bool   `json:"stop,omitempty"`
	Ready   bool   `json:"ready,omitempty"`
	Text    string `json:"text,omitempty"`
	Ask     string `json:"ask,omitempty"`
	Call    string `json:"call,omitempty"`
	Command string `json:"command,omitempty"`
	Result  string `json:"result,omitempty"`
	Output  string `json:"output,omitempty"`
	Done    string `json:"done,omitempty"`
}

func encode(v any) json.RawMessage {
	data, _ := json.Marshal(v) // strings and flags always encode
	return data
}

// Decoder is the pure half of the adapter.
type Decoder struct{}

// Decode implements agent.Decoder.
func (Decoder) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	var l message
	if err := json.Unmarshal(m.Data, &l); err != nil {
		return nil, fmt.Errorf("parrot: a line that is not JSON was skipped: %w", err)
	}
	if l.Prompt != "" { // we have prompted the agent
		t.Prompted(trace.Prompt{Message: trace.UserMessage{ID: "prompt", Parts: []trace.InputPart{{Type: trace.InputText, Text: l.Prompt}}}})
	}
	b := t.Current()
	if b == nil {
		return nil, nil
	}
	switch {
	case l.Text != "":
		b.MessageDelta("text", l.Text)
	case l.Ask != "":
		return []agent.Effect{ask(l, b)}, nil
	case l.Answer != "": // live, the gateway has recorded this answer; in a recording it is news
		b.PermissionResponse(trace.PermissionResponse{RequestID: l.Answer, Outcome: trace.Selected, OptionKind: kind(l.Allow)})
	case l.Result != "":
		b.ToolResult(trace.ToolResult{ToolCallID: l.Result, Status: trace.ToolCompleted, Output: encode(l.Output)})
	case l.Done == "stopped":
		b.End(trace.Stop{Reason: l.Done, Outcome: trace.OutcomeCanceled})
	case l.Done != "":
		b.End(trace.Stop{Reason: l.Done, Outcome: trace.OutcomeCompleted})
	}
	return nil, nil
}

// ask puts a permission request on record. The policy may decide it at once; otherwise
// the session waits for a person and sends what Reply returns.
func ask(l message, b *trace.Builder) agent.Effect {
	call := trace.ToolCall{
		ToolCallID: l.Call, RawName: "run", Name: "run", ToolKind: trace.ToolExecute, Title: "Run `" + l.Command + "`",
		Input: encode(map[string]string{"command": l.Command}),
	}
	b.ToolCall(call)
	id, answer, decided := b.PermissionRequest(trace.PermissionRequest{RequestID: l.Ask, ToolCallID: l.Call, Title: call.Title}, call)
	permit := agent.Permit{Native: l.Ask, RequestID: id, Reply: func(r trace.PermissionResponse) json.RawMessage {
		return encode(message{Answer: l.Ask, Allow: r.Allowed()})
	}}
	if decided {
		permit.Decided = &answer
	}
	return permit
}

func kind(allow bool) trace.OptionKind {
	return map[bool]trace.OptionKind{true: trace.AllowOnce, false: trace.RejectOnce}[allow]
}

// Runtime starts the agent: one process for each session.
type Runtime struct {
	Command string
	Env     []string
}

// Open implements agent.Runtime.
func (r Runtime) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	return agentkit.Open(ctx, host, cfg, agentkit.Spec{
		Adapter: "parrot", Name: "The parrot", Command: r.Command, Env: r.Env,
		Args:     func(string) []string { return nil },
		NotFound: errors.New("parrot was not found: build it with `go build ./examples/tutorial/parrot` and set agents.parrot.command"),
		New: func(c agentkit.Conn, _ string) agentkit.Protocol {
			return &protocol{conn: c, ready: make(chan struct{}, 1)}
		},
	})
}

// protocol is the parrot's protocol with one process.
type protocol struct {
	Decoder
	conn  agentkit.Conn
	ready chan struct{}
}

// Greet waits until the agent is ready.
func (p *protocol) Greet(ctx context.Context, _ string) error {
	_, err := agentkit.Await(ctx, p.conn, p.ready)
	return err
}

// Received sees each line of the agent.
func (p *protocol) Received(line json.RawMessage) {
	var l message
	if json.Unmarshal(line, &l) == nil && l.Ready {
		p.ready <- struct{}{}
	}
}

// Prompt and Stop encode what the gateway asks of the agent.
func (p *protocol) Prompt(_ context.Context, prompt agent.Prompt) (json.RawMessage, error) {
	return encode(message{Prompt: prompt.Text()}), nil
}

func (p *protocol) Stop() json.RawMessage { return encode(message{Stop: true}) }
