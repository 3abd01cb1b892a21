package remote

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
)

// The channels of what a server says. The channel of an event of a stream is the event's
// name, or [Unnamed].
const (
	Opened  = "(opened)" // a stream was opened
	Ended   = "(ended)"  // a stream has ended: Data is an [End]
	Answer  = "(answer)" // the answer to a call that is no stream
	Unnamed = "message"
)

// End says how a stream ended.
type End struct {
	// Error is why the stream broke off; "" if the server ended it.
	Error string `json:"error,omitempty"`
}

// Call is a request to a server. A Decoder gets each call as JSON, before it is sent.
type Call struct {
	Method string            `json:"method,omitempty"`
	Path   string            `json:"path,omitempty"`
	Query  url.Values        `json:"query,omitempty"`
	Header map[string]string `json:"header,omitempty"` // without tokens: calls are recorded
	Body   json.RawMessage   `json:"body,omitempty"`
	// Stream says that the answer is a stream of events of the turn.
	Stream bool `json:"stream,omitempty"`
	// Next says that the call begins another run of a turn that goes on. The call is not sent
	// once that turn is over.
	Next bool `json:"next,omitempty"`
	// By is the person in whose name the call is made; "" is the gateway itself.
	By string `json:"by,omitempty"`
}

// Post is a request with a body.
func Post(path string, body any) Call {
	return Call{Method: "POST", Path: path, Body: agentkit.Encode(body)}
}

// Note is a message for the Decoder alone, such as one of several answers that one request
// will carry. The Decoder finds the body in Call.Body.
func Note(body any) json.RawMessage { return Call{Body: agentkit.Encode(body)}.JSON() }

// JSON encodes the call, as the Data of a message and of an agent.Send. The body is JSON
// already, and may hold a whole conversation.
func (c Call) JSON() json.RawMessage {
	body := c.Body
	if c.Body = nil; body == nil {
		return agentkit.Encode(c)
	}
	head := bytes.TrimSuffix(agentkit.Encode(c), []byte("}"))
	if len(head) > len("{") {
		head = append(head, ',')
	}
	return slices.Concat(head, []byte(`"body":`), body, []byte("}"))
}

// ParseCall reads a message that the Decoder gets with the direction agent.In.
func ParseCall(data json.RawMessage) (c Call, err error) { return c, json.Unmarshal(data, &c) }

// isNote reports whether nothing is to be sent.
func (c Call) isNote() bool { return c.Method == "" }

func (c Call) sent() agent.Message { return agent.Message{Dir: agent.In, Data: c.JSON()} }

func heard(channel string, data any) agent.Message {
	return agent.Message{Dir: agent.Out, Channel: channel, Data: agentkit.Encode(data)}
}
