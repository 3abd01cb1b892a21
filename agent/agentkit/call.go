package agentkit

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/agent"
)

// The channels of what a server says.
const (
	Answers = "http-res" // the answer to a call, as a Call
	Events  = "sse"      // an event of the stream
)

// Call is a request to a server, or the server's answer. A Decoder gets both as JSON: a
// request with the direction agent.In, an answer with the direction agent.Out on the channel
// Answers.
type Call struct {
	Method string          `json:"method,omitempty"`
	Path   string          `json:"path"`
	Status int             `json:"status,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`
}

// Post is a request with a body; nil is no body.
func Post(path string, body any) Call {
	c := Call{Method: "POST", Path: path}
	if body != nil {
		c.Body = Encode(body)
	}
	return c
}

// JSON encodes the call.
func (c Call) JSON() json.RawMessage { return Encode(c) }

func (c Call) sent() agent.Message { return agent.Message{Dir: agent.In, Data: c.JSON()} }

func answer(path string, body json.RawMessage) agent.Message {
	return agent.Message{Dir: agent.Out, Channel: Answers, Data: Call{Path: path, Status: 200, Body: body}.JSON()}
}
