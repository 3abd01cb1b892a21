package uiendpoint

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// mostIdle is how many streams in a row may break off that have said nothing new.
const mostIdle = 3

// protocol is the session's side of an endpoint.
type protocol struct {
	*Decoder
	session *remote.Session
}

var (
	_ remote.Protocol   = (*protocol)(nil)
	_ remote.Reattacher = (*protocol)(nil)
	_ remote.Finisher   = (*protocol)(nil)
)

// Run implements remote.Protocol.
func (p *protocol) Run(ctx context.Context, prompt agent.Prompt) (remote.Call, error) {
	if len(prompt.Message.Parts) == 0 {
		return remote.Call{}, &agentkit.PromptError{Reason: "empty_prompt", Sentence: "The prompt holds nothing that the endpoint can read."}
	}
	messages, err := p.messages(ctx, prompt.Message)
	if err != nil {
		return remote.Call{}, err
	}
	return p.request(messages, ""), nil
}

// messages is the conversation as the endpoint knows it.
func (p *protocol) messages(ctx context.Context, prompt trace.UserMessage) ([]json.RawMessage, error) {
	earlier, err := uistream.History(p.session.Host().History(ctx), native())
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	for _, m := range append(earlier, uistream.UserMessage(prompt)) {
		if len(m.Parts) > 0 {
			all = append(all, m.AppendJSON(nil))
		}
	}
	return all, nil
}

// native is how a trace is read back for an endpoint.
func native() uistream.Options {
	return uistream.Options{Profile: uistream.Newest(), Native: true}
}

// Stop implements remote.Protocol. The end of its stream ends a run, unless the endpoint
// resumes: then the run goes on without a reader.
func (p *protocol) Stop() (remote.Call, bool) {
	return remote.Call{Method: http.MethodPost, Path: p.Decoder.session + "/stop"}, p.settings.Stop
}

// GoOn implements remote.Protocol.
func (p *protocol) GoOn(_ context.Context, b remote.Break) (*remote.Call, error) {
	isCut, idles := false, 0
	p.session.Do(func() { isCut, idles = p.phase == cut, p.idles })
	switch {
	case !isCut:
		return nil, nil //nolint:nilnil // the turn is over, or it waits
	case !p.settings.Resume && b.Err != nil:
		return nil, b.Err
	case !p.settings.Resume || idles > mostIdle:
		return nil, errors.New("its stream ended in the middle of the message")
	}
	return p.join(), nil
}

// join is the request that goes on with a run.
func (p *protocol) join() *remote.Call {
	return &remote.Call{Method: http.MethodGet, Path: p.Decoder.session + "/stream", Stream: true}
}

// Reattach implements remote.Reattacher. A turn that waits for its user goes on when it has
// the answers. A run goes on only where the endpoint can resume.
func (p *protocol) Reattach(ctx context.Context, left agent.OpenTurn) (*remote.Call, error) {
	if left.Prompt == nil {
		return nil, errors.New("the gateway was restarted, and the prompt of the turn is not on record")
	}
	messages, err := p.messages(ctx, left.Prompt.Message)
	if err != nil {
		return nil, err
	}
	p.session.Do(func() { p.recall(messages, left) })
	if err := p.session.Sent(agent.Message{Dir: agent.In, Data: remote.Note("left")}); err != nil { //nolint:contextcheck // effects end with the session
		return nil, err
	}
	waits := false
	p.session.Do(func() { waits = p.Waits() })
	switch {
	case waits:
		return nil, nil //nolint:nilnil // for its user
	case !p.settings.Resume:
		return nil, errors.New("the gateway was restarted while the endpoint was answering, and the endpoint cannot resume: send the prompt again")
	}
	return p.join(), nil
}

// recall makes the Decoder know a turn of an earlier process: the Decoder hears once more
// what is on record, and writes nothing.
func (d *Decoder) recall(before []json.RawMessage, left agent.OpenTurn) {
	d.turn(before)
	d.b = nil
	tr := uistream.NewTranslator(native())
	for _, r := range left.Records {
		for _, c := range tr.Translate(r) {
			d.take(c)
		}
		switch p := r.Payload.(type) { //nolint:gochecksumtype // the chunks tell the others
		case trace.Data:
			if c, is := uistream.ReadBeyond(p); is {
				if start, is := c.(uistream.Start); is {
					d.id = start.MessageID
				}
			}
		case trace.PermissionResponse, trace.Answer:
			d.place.run = maps.Clone(d.place.now)
		}
	}
	d.finished, d.reason = false, ""
	d.expectReplay()
	if len(left.Waiting) > 0 {
		d.phase = waiting
	}
}

// Finished implements remote.Finisher.
func (d *Decoder) Finished() bool { return d.finished }
