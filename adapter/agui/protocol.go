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
	_ remote.Protocol = (*protocol)(nil)
	_ remote.Finisher = (*protocol)(nil)
)

// Run implements remote.Protocol.
func (p *protocol) Run(ctx context.Context, prompt agent.Prompt) (remote.Call, error) {
	if len(prompt.Message.Parts) == 0 {
		return remote.Call{}, &agentkit.PromptError{Reason: "empty_prompt", Sentence: "The prompt holds nothing that the agent can read."}
	}
	p.Host().Resume(inHistory)
	o := p.Options
	m, err := remember(ctx, p.Host(), o.Legacy)
	if err != nil {
		return remote.Call{}, err
	}
	m.begin()
	m.messages = append(m.messages, userMessage(prompt.Message, o.Legacy))
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
	for _, i := range m.open.Open {
		in.Resume, in.Parent = append(in.Resume, i.cancelled()), m.open.Run
	}
	return request(in), nil
}

// request is the request of a run.
func request(in input) remote.Call {
	in.RunID = "run-" + rand.Text()
	c := remote.Post("", in)
	c.Stream = true
	return c
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
