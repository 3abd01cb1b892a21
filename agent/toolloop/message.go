package toolloop

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// MaxAnswer bounds the part of one call's result that the model reads, in bytes. The record
// holds the whole output.
const MaxAnswer = 64 << 10

// Message is a message of the conversation, as a model needs it. A call and its result
// are one value, so no reader can part them.
type Message struct {
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
	// State is what the model's server wants back with the call in later requests, opaque. The
	// record of the call keeps it.
	State json.RawMessage
	// Result is nil until the call is over.
	Result *trace.ToolResult
}

// UserMessage is the message of a prompt.
func UserMessage(p agent.Prompt) Message {
	return Message{Role: trace.RoleUser, Parts: p.Message.Parts}
}

// Append adds a message to a conversation. A user's message that follows another user's
// message becomes a part of it, because some models want user and assistant to take turns.
func Append(all []Message, x Message) []Message {
	if n := len(all); x.Role == trace.RoleUser && n > 0 && all[n-1].Role == trace.RoleUser {
		all[n-1].Parts = slices.Concat(all[n-1].Parts, x.Parts)
		return all
	}
	return append(all, x)
}

// Answer is the text about the call that the model reads.
func (c Call) Answer() string {
	if c.Result == nil {
		return "The turn ended before the call had a result."
	}
	prefix := map[trace.ToolStatus]string{
		trace.ToolDenied:   "The call was denied and did not run: ",
		trace.ToolCanceled: "The call was stopped. ",
		trace.ToolFailed:   "Error: ",
	}[c.Result.Status]
	why := clip(strings.TrimSpace(prefix + c.Result.Error))
	switch text := clip(plain(c.Result.Output)); {
	case text == "" && why == "":
		return "The call succeeded and printed nothing."
	case text == "" || why == "":
		return text + why
	default:
		return text + "\n" + why
	}
}

// plain is a JSON value as text: a string without its quotes, and null as nothing.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}

// clip leaves out the middle of a long text.
func clip(text string) string {
	if len(text) <= MaxAnswer {
		return text
	}
	text = text[:MaxAnswer/2] + "\n[the middle is left out here]\n" + text[len(text)-MaxAnswer/2:]
	return strings.ToValidUTF8(text, "")
}
