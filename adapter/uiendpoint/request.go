package uiendpoint

import (
	"encoding/json"
	"maps"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// fields are the fields of a request.
type fields map[string]json.RawMessage

// request is the request of a run. The assistant message with the id is gone on with; an
// empty id begins one.
func (d *Decoder) request(f fields, messages []json.RawMessage, id string) remote.Call {
	f = maps.Clone(f)
	delete(f, "messages")
	delete(f, "messageId")
	if id != "" {
		f["messageId"] = agentkit.Encode(id)
	}
	if d.last && len(messages) > 0 {
		f["message"] = messages[len(messages)-1]
	} else {
		f["messages"] = agentkit.Encode(messages)
	}
	c := remote.Post("", f)
	c.Query, c.Stream = d.query, true
	return c
}

// fieldsOf reads the fields of a request.
func fieldsOf(c remote.Call) (f fields) {
	_ = json.Unmarshal(c.Body, &f) // a body of another form has none
	return f
}

// sentMessages are the messages of a request.
func (f fields) sentMessages() (all []json.RawMessage) {
	if json.Unmarshal(f["messages"], &all) != nil || all == nil {
		return []json.RawMessage{f["message"]}
	}
	return all
}

// prompted is the prompt of a request: its last message.
func (f fields) prompted() (p trace.Prompt) {
	all := f.sentMessages()
	var m uistream.Message
	if len(all) == 0 || json.Unmarshal(all[len(all)-1], &m) != nil {
		return p
	}
	p.Message = trace.UserMessage{ID: m.ID, Metadata: m.Metadata}
	for _, part := range m.Parts {
		switch part.Type {
		case "text":
			p.Message.Parts = append(p.Message.Parts, trace.InputPart{Type: trace.InputText, Text: part.Text})
		case "file":
			p.Message.Parts = append(p.Message.Parts, trace.InputPart{Type: trace.InputFile, MediaType: part.MediaType, URL: part.URL, Filename: part.Filename})
		}
	}
	return p
}
