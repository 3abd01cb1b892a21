package opencode

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
)

// The types hold what the adapter reads of OpenCode's JSON. The names of fields are those of
// the wire, in any case of letters.
type (
	raw  = json.RawMessage
	text = trace.JSONText
)

// call is a request to the server, or the server's answer.
type call struct {
	remote.Call
	Status int // of a recorded answer
}

// event is one event of the stream.
type event struct {
	Type       string
	Properties raw
}

// properties are those of all events that matter.
type properties struct {
	request           // of a permission request or a question; each event has its SessionID
	Info              info
	Part              part
	MessageID, PartID string
	Field             string
	Delta             text
	Status            status
	Error             *fault
	RequestID         string
	Reply             string
	Answers           [][]string
	Todos             []trace.PlanEntry
	Diff              []fileDiff
}

// info is of a message or of a session.
type info struct {
	ID, ParentID, SessionID     string
	Title, Version              string // of a session: the version of the OpenCode that has created it
	Role                        string
	ModelID, ProviderID, Finish string
	Summary                     raw // true for a message that sums up the conversation
	Error                       *fault
	Time                        struct{ Completed float64 }
}

// fault is an error of the agent.
type fault struct {
	Name string
	Data struct {
		Message     string
		StatusCode  int // of the provider's answer; 0 if there was none
		IsRetryable bool
	}
}

type status struct {
	Type, Message string
	Attempt       int
}

type fileDiff struct{ File, Patch, Status string }

// part is a part of a message.
type part struct {
	ID, MessageID, Type string
	Text                text
	Synthetic, Ignored  bool
	Time                struct{ End float64 }
	Tool, CallID        string
	State               state
	Cost                float64
	Tokens              tokens
	Reason              string // why the model stopped writing
	URL, Mime, Filename string
}

// tokens count without what the cache held.
type tokens struct {
	Input, Output, Reasoning float64
	Cache                    struct{ Read, Write float64 }
}

// state is of a tool's part.
type state struct {
	Status        string
	Input         raw
	Output, Error text
	Metadata      metadata
	Attachments   []part
}

// metadata are of a tool's state or of a permission request.
type metadata struct {
	Output      *text  // so far
	SessionID   string // of the sub-agent
	Interrupted bool
	Filepath    string
	Exists      *bool
	Diff        string
	FileDiff    *fileDiff
}

// request is a permission request or a question.
type request struct {
	ID, SessionID string
	Permission    string
	Patterns      []string
	Metadata      raw
	Questions     []question
	Tool          struct{ MessageID, CallID string }
}

type question struct {
	Question, Header string
	Options          []trace.Choice
	Multiple         bool
}

// entry is a message of the history, with its parts.
type entry struct {
	Info  info
	Parts []part
}

// decode reads JSON that may be missing.
func decode(data raw, v any) bool { return len(data) > 0 && json.Unmarshal(data, v) == nil }
