package runner

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
)

// protocol is the session agent's part in the conversation with a runner.
type protocol struct{ *Decoder }

var _ agentkit.InboundProtocol = protocol{}

// frame encodes a frame. All frames of this package have JSON.
func frame(f wire.Frame) json.RawMessage {
	data, _ := wire.Encode(f)
	return data
}

// Greeting implements agentkit.InboundProtocol.
func (protocol) Greeting() []json.RawMessage {
	none := []json.RawMessage{}
	return []json.RawMessage{
		frame(wire.RunnerInit{}), frame(wire.OpencodeConfig{}),
		frame(wire.PluginContent{Content: wire.Plugins{Personas: none, Skills: none, Tools: none}}),
		frame(wire.RepoConfig{GitConfig: map[string]string{}}),
	}
}

// notOffered is the answer to all requests for what only an Agent Ops server has.
const notOffered = "This gateway does not offer it: it is no Agent Ops server."

// Reply implements agentkit.InboundProtocol.
func (protocol) Reply(data json.RawMessage, err error) json.RawMessage {
	if errors.Is(err, wire.ErrNotJSON) {
		return frame(wire.Error{Message: "Invalid JSON"})
	}
	typ, _ := wire.Peek(data)
	if e, known := wire.Lookup(wire.FromRunner, typ); known && e.Answer == "" && typ != (wire.Ping{}).Type() && !errors.Is(err, errQuestions) {
		return nil
	}
	f, _ := wire.Decode(wire.FromRunner, data) // err is known
	switch f := f.(type) {
	case wire.Question:
		return answer(f.QuestionID, nil)
	case wire.Ping:
		return frame(wire.Pong{})
	case wire.Request:
		return frame(wire.Result{Request: f.Name, RequestID: f.RequestID, Error: notOffered})
	case wire.Unknown:
		if f.RequestID != "" {
			return frame(wire.Result{Request: f.Name, RequestID: f.RequestID, Error: notOffered})
		}
	}
	return nil
}

// Prompt implements agentkit.InboundProtocol.
func (protocol) Prompt(p agent.Prompt, inside func(path string) bool, cfg agent.Config) json.RawMessage {
	f := wire.RunnerPrompt{
		MessageID: p.Message.ID, Model: cfg.Model, AuthorID: p.By, AuthorName: p.By, Traceparent: p.Caller.Traceparent,
	}
	typ, id, two := strings.Cut(p.Channel, ":")
	switch {
	case two:
		f.ChannelType, f.ChannelID = typ, id
	case p.Channel != "":
		f.ChannelType, f.ChannelID = "web", p.Channel
	}
	if f.ChannelType == wire.ThreadChannel {
		f.ThreadID = f.ChannelID
	}
	words := agentkit.Blocks(p.Message.Parts, inside, agentkit.Words, func(file agentkit.Attachment) (none string, ok bool) {
		if ok = file.Address() != ""; ok {
			f.Attachments = append(f.Attachments, wire.Attachment{Type: "file", MIME: file.Media, URL: file.Address(), Filename: file.Name})
		}
		return none, ok
	})
	f.Content = strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), "\n")
	return frame(f)
}

// Stop implements agentkit.InboundProtocol.
func (p protocol) Stop() json.RawMessage {
	var f wire.Abort
	if tn := p.open(); tn != nil {
		f.Channel = tn.prompt.Channel
	}
	return frame(f)
}

// State implements agentkit.InboundProtocol.
func (p protocol) State() agentkit.State {
	tn := p.open()
	s := agentkit.State{Phase: p.phase}
	if tn != nil && tn.end != nil && p.phase == agentkit.Working {
		s.Heard, s.Close = tn.heard, frame(wire.Complete{MessageID: tn.prompt.MessageID})
	}
	return s
}
