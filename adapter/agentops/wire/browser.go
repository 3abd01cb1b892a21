package wire

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/trace"
)

// Frames to browsers.

// Init is the first frame that a browser gets.
type Init struct {
	Session SessionInfo `json:"session"`
	Data    InitData    `json:"data"`
}

// SessionInfo describes the session in Init. Servers older than 12 March 2026 add Messages.
type SessionInfo struct {
	ID        string        `json:"id"`
	Status    string        `json:"status"`
	Workspace string        `json:"workspace"`
	Title     string        `json:"title"`
	Messages  List[Message] `json:"messages,omitzero"`
}

// InitData is the state of the session in Init.
type InitData struct {
	SandboxRunning   bool           `json:"sandboxRunning"`
	RunnerConnected  *bool          `json:"runnerConnected,omitempty"`
	RunnerBusy       bool           `json:"runnerBusy"`
	PromptsQueued    int            `json:"promptsQueued"`
	ConnectedClients int            `json:"connectedClients"`
	ConnectedUsers   List[User]     `json:"connectedUsers"`
	PendingPrompt    *PendingPrompt `json:"pendingPrompt,omitempty"`
}

// PendingPrompt is the prompt that waits.
type PendingPrompt struct {
	MessageID   string           `json:"messageId"`
	Content     string           `json:"content"`
	Attachments List[Attachment] `json:"attachments,omitempty"`
	ThreadID    string           `json:"threadId,omitempty"`
}

// MessageAdded ("message") is a new message: a user's prompt, a note of the
// system, or the start of an assistant's turn.
type MessageAdded struct {
	Data Message `json:"data" need:""`
}

// MessageUpdated ("message.updated") is the whole of a message as it now is.
type MessageUpdated struct {
	Data Message `json:"data" need:""`
}

// MessagesRemoved ("messages.removed") takes messages back.
type MessagesRemoved struct {
	MessageIDs List[string] `json:"messageIds"`
}

// Chunk is more text of a turn.
type Chunk struct {
	Content   trace.JSONText `json:"content" need:""`
	MessageID string         `json:"messageId"`
	Channel
}

// AgentStatus says what the agent does. A runner's has the id of the prompt, a
// browser's the channel.
type AgentStatus struct {
	Status    string `json:"status"`
	Detail    string `json:"detail,omitempty"`
	MessageID string `json:"messageId,omitempty"`
	Channel
}

// The states of an agent.
const (
	StatusIdle        = "idle"
	StatusThinking    = "thinking"
	StatusToolCalling = "tool_calling"
	StatusStreaming   = "streaming"
	StatusError       = "error"
)

// Status says what changed about the session.
type Status struct {
	Data StatusData `json:"data" need:""`
}

// StatusData is what changed: most fields are absent in most frames.
type StatusData struct {
	// Status is the state of the session, see the constants.
	Status             string `json:"status,omitempty"`
	SandboxRunning     *bool  `json:"sandboxRunning,omitempty"`
	RunnerConnected    *bool  `json:"runnerConnected,omitempty"`
	RunnerDisconnected *bool  `json:"runnerDisconnected,omitempty"`
	RunnerBusy         *bool  `json:"runnerBusy,omitempty"`
	Aborted            bool   `json:"aborted,omitempty"`
	QueuedPrompts      *int   `json:"queuedPrompts,omitempty"`
	PromptQueued       bool   `json:"promptQueued,omitempty"`
	QueuePosition      *int   `json:"queuePosition,omitempty"`
	// QueueReason is busy or waking.
	QueueReason    string `json:"queueReason,omitempty"`
	PromptDequeued bool   `json:"promptDequeued,omitempty"`
	Remaining      *int   `json:"remaining,omitempty"`
	QueueCleared   bool   `json:"queueCleared,omitempty"`
	Answer         string `json:"answer,omitempty"`
}

// The states of a session.
const (
	SessionInitializing = "initializing"
	SessionRunning      = "running"
	SessionIdle         = "idle"
	SessionHibernating  = "hibernating"
	SessionHibernated   = "hibernated"
	SessionRestoring    = "restoring"
	SessionTerminated   = "terminated"
	SessionArchived     = "archived"
	SessionError        = "error"
)

// QueueWaking is the reason of a prompt that waits until the session is awake,
// QueueBusy of one that waits for another.
const (
	QueueWaking = "waking"
	QueueBusy   = "busy"
)

// QueueState says which prompt waits.
type QueueState struct {
	Data QueueData `json:"data"`
}

// QueueData is the one place of the queue.
type QueueData struct {
	Pending *PendingPrompt `json:"pending"`
}

// QueueWithdrawn says that the prompt that waited was withdrawn or replaced.
type QueueWithdrawn struct {
	Data PendingPrompt `json:"data" need:""`
}

// Error has four shapes: what the agent says in Error, what is wrong with a frame
// in Message, and what is wrong with a prompt in Data.
type Error struct {
	MessageID string     `json:"messageId,omitempty"`
	Error     string     `json:"error,omitempty"`
	Message   string     `json:"message,omitempty"`
	Data      *ErrorData `json:"data,omitempty"`
	Channel
}

// ErrorData is the fourth shape.
type ErrorData struct {
	Message  string `json:"message"`
	PromptID string `json:"promptId"`
}

// Text is what went wrong, whatever the shape.
func (f Error) Text() string {
	switch {
	case f.Error != "":
		return f.Error
	case f.Message != "":
		return f.Message
	case f.Data != nil:
		return f.Data.Message
	}
	return ""
}

// UserJoined says who has connected.
type UserJoined struct{ Presence }

// UserLeft says who has left.
type UserLeft struct{ Presence }

// Presence is who came or went, and who is there now.
type Presence struct {
	UserID         string     `json:"userId"`
	UserDetails    *User      `json:"userDetails,omitempty"`
	ConnectedUsers List[User] `json:"connectedUsers"`
}

// Title is the session's new title.
type Title struct {
	Title string `json:"title"`
}

// ThreadCreated says that there is a thread, perhaps since long.
type ThreadCreated struct {
	ThreadID string `json:"threadId"`
}

// ThreadUpdated tells a thread's title and what it changed.
type ThreadUpdated struct {
	ThreadID         string `json:"threadId"`
	Title            string `json:"title,omitempty"`
	SummaryAdditions int    `json:"summaryAdditions,omitempty"`
	SummaryDeletions int    `json:"summaryDeletions,omitempty"`
	SummaryFiles     int    `json:"summaryFiles,omitempty"`
}

// ModelSwitched says that a turn goes on with another model, as a turn of its own.
type ModelSwitched struct {
	MessageID string `json:"messageId,omitempty"`
	FromModel string `json:"fromModel"`
	ToModel   string `json:"toModel"`
	Reason    string `json:"reason,omitempty"`
}

// Models are the models that can be chosen.
type Models struct {
	Models       json.RawMessage `json:"models"`
	DefaultModel string          `json:"defaultModel,omitempty"`
}

// Toast is a message for one user.
type Toast struct {
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	Variant     string `json:"variant,omitempty"`
	Duration    int    `json:"duration,omitempty"`
}

// CommandResult answers a command.
type CommandResult struct {
	RequestID string          `json:"requestId"`
	Command   string          `json:"command"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     string          `json:"error,omitempty"`
}

// Pong answers a ping, on both sockets.
type Pong struct{}
