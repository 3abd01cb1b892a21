package toolloop

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// MaxAnswer bounds what a model is told of one call's result, in bytes. The record holds
// the whole output.
const MaxAnswer = 64 << 10

// Message is a message of the conversation, as a model needs it. A call and its result
// are one value, so no reader can part them.
type Message struct {
	// ID is the gateway's id of the message, or "".
	ID string
	// Role is the user's or the assistant's.
	Role trace.Role
	// Parts are the words and files of a user.
	Parts []trace.InputPart
	// Text, Thoughts and Calls are the assistant's.
	Text     string
	Thoughts []Thought
	Calls    []Call
}

// Thought is a part of the model's reasoning.
type Thought struct {
	Text string
	// Signature is what the model's server needs to recognise the reasoning, opaque.
	Signature string
}

// Call is a tool call with its result.
type Call struct {
	ID    string
	Name  string
	Input json.RawMessage
	// Result is nil until the call is over.
	Result *trace.ToolResult
}

// UserMessage is the message of a prompt.
func UserMessage(p agent.Prompt) Message {
	return Message{ID: p.Message.ID, Role: trace.RoleUser, Parts: p.Message.Parts}
}

// Answer is what the model is told of the call.
func (c Call) Answer() string {
	r := c.Result
	if r == nil {
		return "The turn ended before the call had a result."
	}
	var said []string
	if text := plain(r.Output); text != "" {
		said = append(said, clip(text))
	}
	switch why := strings.TrimSpace(r.Error); r.Status {
	case trace.ToolDenied:
		said = append(said, strings.TrimSpace("The call was denied and did not run. "+why))
	case trace.ToolCanceled:
		said = append(said, strings.TrimSpace("The call was stopped. "+why))
	case trace.ToolFailed:
		said = append(said, "Error: "+clip(why))
	case trace.ToolCompleted:
	}
	if len(said) == 0 {
		return "The call succeeded and printed nothing."
	}
	return strings.Join(said, "\n")
}

// plain is a JSON value as text: a string without its quotes.
func plain(raw json.RawMessage) string {
	var text string
	switch {
	case json.Unmarshal(raw, &text) == nil: // null, too
		return text
	default:
		return string(raw)
	}
}

// clip leaves out the middle of a long text.
func clip(text string) string {
	if len(text) <= MaxAnswer {
		return text
	}
	head, tail := text[:MaxAnswer/2], text[len(text)-MaxAnswer/2:]
	for len(head) > 0 && !utf8.RuneStart(text[len(head)]) {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return head + "\n[the middle is left out here]\n" + tail
}
