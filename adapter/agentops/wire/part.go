package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// Channel says to which channel a frame belongs; a frame without one is for all.
type Channel struct {
	ChannelType string `json:"channelType,omitempty"`
	ChannelID   string `json:"channelId,omitempty"`
}

// ThreadChannel is the type of the channel that a thread is.
const ThreadChannel = "thread"

// Name is the name of a channel, or of a thread in it, in Tributary: "thread:ID",
// "TYPE:ID", or "ID" for a channel of the web. The default channel is "".
func (c Channel) Name(thread string) string {
	switch {
	case thread != "":
		return ThreadChannel + ":" + thread
	case c.ChannelType == "" && c.ChannelID == "", c.ChannelType == "web" && c.ChannelID == "default":
		return ""
	case c.ChannelType != "" && c.ChannelType != "web":
		return c.ChannelType + ":" + c.ChannelID
	case strings.Contains(c.ChannelID, ":"):
		return "web:" + c.ChannelID // without its type the name would have another meaning
	}
	return c.ChannelID
}

// Message is a message as a browser gets it.
type Message struct {
	ID      string         `json:"id"`
	Role    string         `json:"role,omitempty"`
	Content trace.JSONText `json:"content"`
	Parts   Parts          `json:"parts,omitzero"`

	AuthorID    string `json:"authorId,omitempty"`
	AuthorEmail string `json:"authorEmail,omitempty"`
	AuthorName  string `json:"authorName,omitempty"`

	Channel
	ThreadID  string `json:"threadId,omitempty"`
	CreatedAt Stamp  `json:"createdAt,omitzero"`
}

// The roles of a message.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleSystem    = "system"
)

// Parts are the parts of a message. Where there is a single one the session agent
// may send it bare.
type Parts []Part

// UnmarshalJSON implements json.Unmarshaler.
func (p *Parts) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	*p = nil
	if bytes.HasPrefix(data, []byte("{")) {
		var one Part
		if _, err := unmarshal(data, &one); err == nil {
			*p = Parts{one}
		}
		return nil
	}
	var many List[Part]
	err := many.UnmarshalJSON(data)
	*p = Parts(many)
	return err
}

// Part is a part of a message. Which fields it has depends on its type.
type Part struct {
	Type string `json:"type"`

	// text
	Text      trace.JSONText `json:"text,omitempty"`
	Streaming bool           `json:"streaming,omitempty"`

	// tool-call
	CallID   string          `json:"callId,omitempty"`
	ToolName string          `json:"toolName,omitempty"`
	Status   string          `json:"status,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Error    string          `json:"error,omitempty"`

	// finish, error
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`

	// image, audio, file, screenshot
	Data       string `json:"data,omitempty"`
	MIMEType   string `json:"mimeType,omitempty"`
	Filename   string `json:"filename,omitempty"`
	Transcript string `json:"transcript,omitempty"`
}

// The types of parts.
const (
	PartText       = "text"
	PartToolCall   = "tool-call"
	PartFinish     = "finish"
	PartError      = "error"
	PartScreenshot = "screenshot"
	PartImage      = "image"
	PartAudio      = "audio"
	PartFile       = "file"
)

// The statuses of a tool call.
const (
	ToolPending   = "pending"
	ToolRunning   = "running"
	ToolCompleted = "completed"
	ToolError     = "error"
)

// Why a turn ended.
const (
	ReasonEndTurn  = "end_turn"
	ReasonError    = "error"
	ReasonCanceled = "canceled"
)

// Attachment is a file that goes with a prompt; its URL is a data URL in base64.
type Attachment struct {
	Type     string `json:"type"` // "file"
	MIME     string `json:"mime"`
	URL      string `json:"url"`
	Filename string `json:"filename,omitempty"`
}

// Stamp is a time in seconds since 1970. Decode also reads the text form of the REST interface.
type Stamp int64

// UnmarshalJSON implements json.Unmarshaler.
func (s *Stamp) UnmarshalJSON(data []byte) error {
	*s = 0
	var n float64
	if json.Unmarshal(data, &n) == nil {
		if n > 0 && n < 1<<53 {
			*s = Stamp(n)
		}
		return nil
	}
	var text string
	if json.Unmarshal(data, &text) == nil {
		for _, layout := range []string{time.RFC3339, time.DateTime} {
			if t, err := time.Parse(layout, text); err == nil {
				*s = Stamp(t.Unix())
				break
			}
		}
	}
	return nil
}

// User is somebody who is connected.
type User struct {
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Email string `json:"email,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler: a user may be a bare id.
func (u *User) UnmarshalJSON(data []byte) error {
	*u = User{}
	if json.Unmarshal(data, &u.ID) == nil {
		return nil
	}
	type plain User
	_, _ = unmarshal(data, (*plain)(u))
	return nil
}

// AnswerValue is the answer to a question: a text, or yes or no.
type AnswerValue struct {
	Text string
	// Bool is set where the answer is yes or no.
	Bool *bool
}

// String is the answer as the session agent writes it down.
func (a AnswerValue) String() string {
	switch {
	case a.Bool == nil:
		return a.Text
	case *a.Bool:
		return "true"
	}
	return "false"
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *AnswerValue) UnmarshalJSON(data []byte) error {
	*a = AnswerValue{}
	if data = bytes.TrimSpace(data); bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, &a.Text)
	}
	return json.Unmarshal(data, &a.Bool)
}

// MarshalJSON implements json.Marshaler.
func (a AnswerValue) MarshalJSON() ([]byte, error) {
	if a.Bool != nil {
		return json.Marshal(*a.Bool)
	}
	return json.Marshal(a.Text)
}

// Expired is the answer that a runner gets when nobody answered in time.
const Expired = "__expired__"
