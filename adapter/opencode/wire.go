package opencode

import (
	"cmp"
	"encoding/json"

	"github.com/tributary-dev/tributary/trace"
)

type raw = json.RawMessage

// event is one event of the stream.
type event struct {
	Type       string `json:"type"`
	Properties raw    `json:"properties"`
}

// properties are those of all events that matter.
type properties struct {
	SessionID string     `json:"sessionID"`
	Info      info       `json:"info"`
	Part      part       `json:"part"`
	MessageID string     `json:"messageID"`
	PartID    string     `json:"partID"`
	Field     string     `json:"field"`
	Delta     text       `json:"delta"`
	Status    status     `json:"status"`
	Error     *fault     `json:"error"`
	RequestID string     `json:"requestID"`
	Reply     string     `json:"reply"`
	Answers   [][]string `json:"answers"`
	Todos     []todo     `json:"todos"`
	Diff      []fileDiff `json:"diff"`
}

type text = trace.JSONText

// info is of a message or of a session.
type info struct {
	ID         string `json:"id"`
	ParentID   string `json:"parentID"`
	SessionID  string `json:"sessionID"`
	Title      string `json:"title"`
	Role       string `json:"role"`
	ModelID    string `json:"modelID"`
	ProviderID string `json:"providerID"`
	Finish     string `json:"finish"`
	Summary    raw    `json:"summary"` // true for a message that sums up the conversation
	Error      *fault `json:"error"`
	Time       span   `json:"time"`
}

type span struct {
	Completed float64 `json:"completed"` // of messages
	End       float64 `json:"end"`       // of parts
}

// fault is an error of the agent.
type fault struct {
	Name string `json:"name"`
	Data struct {
		Message string `json:"message"`
	} `json:"data"`
}

func (f fault) aborted() bool { return f.Name == "MessageAbortedError" }

func (f fault) sentence() string {
	return cmp.Or(plain(f.Data.Message), f.Name, "OpenCode gave no reason.")
}

type status struct {
	Type    string `json:"type"`
	Attempt int    `json:"attempt"`
	Message string `json:"message"`
}

type todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

type fileDiff struct {
	File   string `json:"file"`
	Patch  string `json:"patch"`
	Status string `json:"status"`
}

// part is a part of a message.
type part struct {
	ID        string  `json:"id"`
	SessionID string  `json:"sessionID"`
	MessageID string  `json:"messageID"`
	Type      string  `json:"type"`
	Text      text    `json:"text"`
	Synthetic bool    `json:"synthetic"`
	Ignored   bool    `json:"ignored"`
	Time      span    `json:"time"`
	Tool      string  `json:"tool"`
	CallID    string  `json:"callID"`
	State     state   `json:"state"`
	Cost      float64 `json:"cost"`
	Tokens    tokens  `json:"tokens"`
	URL       string  `json:"url"`
	Mime      string  `json:"mime"`
	Filename  string  `json:"filename"`
}

type tokens struct {
	Input     float64 `json:"input"` // without what the cache held
	Output    float64 `json:"output"`
	Reasoning float64 `json:"reasoning"`
	Cache     struct {
		Read  float64 `json:"read"`
		Write float64 `json:"write"`
	} `json:"cache"`
}

// state is of a tool's part.
type state struct {
	Status      string   `json:"status"`
	Input       raw      `json:"input"`
	Output      text     `json:"output"`
	Error       text     `json:"error"`
	Metadata    metadata `json:"metadata"`
	Attachments []part   `json:"attachments"`
}

// metadata are of a tool's state or of a permission request.
type metadata struct {
	Output      *text     `json:"output"`    // so far
	SessionID   string    `json:"sessionId"` // of the sub-agent
	Interrupted bool      `json:"interrupted"`
	Filepath    string    `json:"filepath"`
	Exists      *bool     `json:"exists"`
	Diff        string    `json:"diff"`
	FileDiff    *fileDiff `json:"filediff"`
}

// request is a permission request or a question.
type request struct {
	ID         string     `json:"id"`
	SessionID  string     `json:"sessionID"`
	Permission string     `json:"permission"`
	Patterns   []string   `json:"patterns"`
	Metadata   raw        `json:"metadata"`
	Always     []string   `json:"always"`
	Questions  []question `json:"questions"`
	Tool       struct {
		MessageID string `json:"messageID"`
		CallID    string `json:"callID"`
	} `json:"tool"`
}

type question struct {
	Question string         `json:"question"`
	Header   string         `json:"header"`
	Options  []trace.Choice `json:"options"`
	Multiple bool           `json:"multiple"`
}

// entry is a message of the history, with its parts.
type entry struct {
	Info  info   `json:"info"`
	Parts []part `json:"parts"`
}

// decode reads JSON that may be missing.
func decode(data raw, v any) bool { return len(data) > 0 && json.Unmarshal(data, v) == nil }
