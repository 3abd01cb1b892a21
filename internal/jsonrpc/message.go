package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Message is one message of the protocol.
type Message struct {
	// ID is the request's id, a number or a string; nil for a notification.
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// Kind says what a Message is.
type Kind int

// The kinds of messages.
const (
	Invalid Kind = iota
	Request
	Notification
	Response
)

// Kind says what the message is.
func (m Message) Kind() Kind {
	switch {
	case m.Method != "" && m.ID == nil:
		return Notification
	case m.Method != "":
		return Request
	case m.ID != nil || m.Error != nil:
		return Response
	default:
		return Invalid
	}
}

// ErrInvalid says that a line is no message of the protocol.
var ErrInvalid = errors.New("this is no JSON-RPC message")

// Parse reads one message.
func Parse(line []byte) (Message, error) {
	var m Message
	if err := json.Unmarshal(line, &m); err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if id := bytes.TrimSpace(m.ID); len(id) == 0 || bytes.Equal(id, []byte("null")) {
		m.ID = nil
	} else if id[0] == '{' || id[0] == '[' || id[0] == 't' || id[0] == 'f' {
		return Message{}, fmt.Errorf("%w: its id is neither a number nor a string", ErrInvalid)
	}
	if m.Kind() == Invalid {
		return Message{}, ErrInvalid
	}
	return m, nil
}

// The codes of the protocol, and those that editors and agents share.
const (
	CodeParse            = -32700
	CodeInvalidRequest   = -32600
	CodeMethodNotFound   = -32601
	CodeInvalidParams    = -32602
	CodeInternal         = -32603
	CodeServer           = -32000
	CodeRequestCancelled = -32800
)

// Error is an error that the other end replied, or that a handler replies.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// SameID is the Error for a request whose id is that of an earlier request without a reply. It is no
// reply to the earlier one, which is not affected.
func SameID() Error {
	return Error{Code: CodeInvalidRequest, Message: "an earlier request with the same id has no reply yet: use another id"}
}

// IsSameID reports whether a reply is SameID.
func (m Message) IsSameID() bool {
	return m.Error != nil && m.Error.Code == SameID().Code && m.Error.Message == SameID().Message
}

// Error implements error.
func (e Error) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("error %d", e.Code)
	}
	return e.Message
}

// outgoing is a message as it is written.
type outgoing struct {
	Version string          `json:"jsonrpc,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// encode writes a message on one line, with <, > and & as they are.
func encode(m outgoing) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return nil, fmt.Errorf("encode a JSON-RPC message: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
