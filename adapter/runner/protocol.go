package runner

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agentops"
)

// protocol is the session agent's part in the conversation with a runner.
type protocol struct{ *Decoder }

var _ agentkit.InboundProtocol = protocol{}

// frame encodes a frame. All frames of this package have JSON.
func frame(f agentops.Frame) json.RawMessage {
	data, _ := agentops.Encode(f)
	return data
}

// Greeting implements agentkit.InboundProtocol.
func (protocol) Greeting() []json.RawMessage {
	none := []json.RawMessage{}
	return []json.RawMessage{
		frame(agentops.RunnerInit{}), frame(agentops.OpencodeConfig{}),
		frame(agentops.PluginContent{Content: agentops.Plugins{Personas: none, Skills: none, Tools: none}}),
		frame(agentops.RepoConfig{GitConfig: map[string]string{}}),
	}
}

// notOffered is the answer to all requests for what only an Agent Ops server has.
const notOffered = "This gateway does not offer it: it is no Agent Ops server."

// Reply implements agentkit.InboundProtocol.
func (protocol) Reply(data json.RawMessage, err error) json.RawMessage {
	if errors.Is(err, agentops.ErrNotJSON) {
		return frame(agentops.Error{Message: "Invalid JSON"})
	}
	typ, _ := agentops.Peek(data)
	if e, known := agentops.Lookup(agentops.FromRunner, typ); known && e.Answer == "" && typ != (agentops.Ping{}).Type() && !errors.Is(err, errQuestions) {
		return nil
	}
	f, _ := agentops.Decode(agentops.FromRunner, data) // err is known
	switch f := f.(type) {
	case agentops.Question:
		return answer(f.QuestionID, nil)
	case agentops.Ping:
		return frame(agentops.Pong{})
	case agentops.Request:
		return frame(agentops.Result{Request: f.Name, RequestID: f.RequestID, Error: notOffered})
	case agentops.Unknown:
		if f.RequestID != "" {
			return frame(agentops.Result{Request: f.Name, RequestID: f.RequestID, Error: notOffered})
		}
	}
	return nil
}

// Prompt implements agentkit.InboundProtocol.
func (protocol) Prompt(p agent.Prompt, inside func(path string) bool, cfg agent.Config) json.RawMessage {
	f := agentops.RunnerPrompt{
		MessageID: p.Message.ID, Model: cfg.Model, AuthorID: p.By, AuthorName: p.By, Traceparent: p.Caller.Traceparent,
	}
	typ, id, two := strings.Cut(p.Channel, ":")
	switch {
	case two:
		f.ChannelType, f.ChannelID = typ, id
	case p.Channel != "":
		f.ChannelType, f.ChannelID = "web", p.Channel
	}
	if f.ChannelType == agentops.ThreadChannel {
		f.ThreadID = f.ChannelID
	}
	words := agentkit.Blocks(p.Message.Parts, inside, agentkit.Words, func(file agentkit.Attachment) (none string, ok bool) {
		if ok = file.Address() != ""; ok {
			f.Attachments = append(f.Attachments, agentops.Attachment{Type: "file", MIME: file.Media, URL: file.Address(), Filename: file.Name})
		}
		return none, ok
	})
	f.Content = strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), "\n")
	return frame(f)
}

// Stop implements agentkit.InboundProtocol.
func (p protocol) Stop() json.RawMessage {
	var f agentops.Abort
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
		s.Heard, s.Close = tn.heard, frame(agentops.Complete{MessageID: tn.prompt.MessageID})
	}
	return s
}
