package agui

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
)

// inHistory is the resume token of every session: the conversation is the gateway's.
const inHistory = "history"

// protocol is a conversation with an endpoint.
type protocol struct {
	*Decoder
	*remote.Session
	Options
}

var (
	_ remote.Protocol   = (*protocol)(nil)
	_ remote.Finisher   = (*protocol)(nil)
	_ remote.Reattacher = (*protocol)(nil)
)

// Run implements remote.Protocol.
func (p *protocol) Run(ctx context.Context, prompt agent.Prompt) (remote.Call, error) {
	if len(prompt.Message.Parts) == 0 {
		return remote.Call{}, &agentkit.PromptError{Reason: "empty_prompt", Sentence: "The prompt holds nothing that the agent can read."}
	}
	p.Host().Resume(inHistory)
	in, err := p.input(ctx, prompt.Message)
	return request(in), err
}

// input is the input of the first run of a turn.
func (p *protocol) input(ctx context.Context, prompt trace.UserMessage) (input, error) {
	o := p.Options
	m, err := remember(ctx, p.Host(), o.Legacy)
	m.begin()
	m.messages = append(m.messages, userMessage(prompt, o.Legacy))
	in := input{
		ThreadID: p.Config().SessionID, Version: protocolVersion, Messages: m.encoded(o.Legacy), State: first(m.state, encode(o.State), raw("{}")),
		Tools: append([]Tool{}, o.Tools...), Context: append([]Context{}, o.Context...), Forwarded: maps.Clone(o.Forwarded),
	}
	if in.Forwarded == nil {
		in.Forwarded = map[string]any{}
	}
	if o.Legacy {
		in.Version = ""
	}
	for _, i := range m.open.interrupts() {
		in.Resume, in.Parent = append(in.Resume, i.cancelled()), m.open.Run
	}
	return in, err
}

// request is the request of a run.
func request(in input) remote.Call {
	in.RunID = "run-" + rand.Text()
	c := remote.Post("", in)
	c.Stream = true
	return c
}

// Reattach implements remote.Reattacher. A turn that waits for people goes on when it has the
// answers.
func (p *protocol) Reattach(ctx context.Context, left agent.OpenTurn) (*remote.Call, error) {
	if len(left.Waiting) == 0 || left.Prompt == nil {
		return nil, errors.New("the gateway was restarted, and AG-UI has no way back into a run: send the prompt again")
	}
	in, err := p.input(ctx, left.Prompt.Message)
	if err != nil {
		return nil, err
	}
	p.Do(func() { p.left = &leftTurn{in, left.Records} })
	return nil, p.Sent(agent.Message{Dir: agent.In, Data: remote.Note("left")}) //nolint:contextcheck // effects end with the session
}

// leftTurn is a turn that an earlier process has left open, and its input.
type leftTurn struct {
	input   input
	records []trace.Record
}

// recall makes the Decoder know a turn that waits, and asks the same again.
func (d *Decoder) recall() {
	d.begin(d.t.Prompted(prompt(d.left.input.asked())), d.left.input)
	d.plain = true // nobody knows, and results come in their order then
	t := d.turn
	if t == nil {
		return
	}
	m := &memory{}
	for _, r := range d.left.records {
		m.take(r, t.input.Version == "")
		switch p := r.Payload.(type) { //nolint:gochecksumtype // memory has the others
		case trace.Prompt:
			m.transcript = transcript{} // the input has it
		case trace.ToolCallStart:
			t.calls[p.ToolCallID] = &call{b: t.b, name: p.RawName, whole: true, entry: m.call(p.ToolCallID)}
			t.order = append(t.order, p.ToolCallID)
		case trace.ToolCall:
			if c := t.calls[p.ToolCallID]; c != nil {
				c.args.Write(p.Input)
			}
		case trace.ToolResult:
			if c := t.calls[p.ToolCallID]; c != nil {
				c.done = true
			}
		}
	}
	t.said, t.input.RunID, t.values[state()] = m.transcript, m.open.Run, first(m.state, t.input.State)
	d.ask(t, m.open.Kind, m.open.Open)
}

// Stop implements remote.Protocol: an endpoint ends a run whose stream is closed.
func (p *protocol) Stop() (remote.Call, bool) { return remote.Call{}, false }

// GoOn implements remote.Protocol. The protocol has no way back into a run.
func (p *protocol) GoOn(_ context.Context, b remote.Break) (*remote.Call, error) {
	var lost bool
	p.Do(func() { lost = p.lost() })
	switch {
	case !lost:
		return nil, nil //nolint:nilnil // the turn is over, waits, or has its next run
	case b.Err != nil:
		return nil, fmt.Errorf("the connection broke (%w), and AG-UI has no way back into a run: send the prompt again", b.Err)
	}
	return nil, errors.New("the stream ended before the run did: send the prompt again")
}
