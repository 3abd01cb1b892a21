package uiendpoint

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// request is the request of a run. The assistant message with the id is gone on with; an
// empty id begins one.
func (d *Decoder) request(messages []json.RawMessage, id string) remote.Call {
	fields := map[string]any{}
	for name, value := range d.settings.Body {
		fields[name] = value
	}
	for _, own := range []string{"message", "messages", "messageId"} {
		delete(fields, own)
	}
	fields["id"], fields["trigger"] = d.session, "submit-message"
	if id != "" {
		fields["messageId"] = id
	}
	if d.settings.Send == "last" && len(messages) > 0 {
		fields["message"] = messages[len(messages)-1]
	} else {
		fields["messages"] = messages
	}
	c := remote.Post("", fields)
	c.Stream = true
	return c
}

// sent is what the Decoder reads in a request.
type sent struct {
	MessageID string            `json:"messageId"`
	Messages  []json.RawMessage `json:"messages"`
	Message   json.RawMessage   `json:"message"`
}

func readSent(c remote.Call) (s sent) {
	_ = json.Unmarshal(c.Body, &s) // a body of another form says nothing
	if s.Messages == nil {
		s.Messages = []json.RawMessage{s.Message}
	}
	return s
}

// prompt is the last message.
func (s sent) prompt() (p trace.Prompt) {
	var m uistream.Message
	if n := len(s.Messages); n > 0 && json.Unmarshal(s.Messages[n-1], &m) == nil {
		p.Message = m.User()
	}
	return p
}
