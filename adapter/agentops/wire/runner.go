package wire

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/trace"
)

// Frames of a runner. AgentStatus, Question, Error, Models, Title, ModelSwitched,
// ThreadCreated, ThreadUpdated, CommandResult and Ping are as on the other socket.

// MessageCreate begins an assistant's turn.
type MessageCreate struct {
	TurnID string `json:"turnId"`
	Channel
	ThreadID string `json:"threadId,omitempty"`
}

// TextDelta is more text of a turn.
type TextDelta struct {
	TurnID string         `json:"turnId"`
	Delta  trace.JSONText `json:"delta" need:""`
}

// ToolUpdate is a tool call whose status has changed.
type ToolUpdate struct {
	TurnID   string          `json:"turnId"`
	CallID   string          `json:"callId"`
	ToolName string          `json:"toolName"`
	Status   string          `json:"status"`
	Args     json.RawMessage `json:"args,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// Finalize ends a turn. The id may be missing from a turn that failed before its first word.
type Finalize struct {
	TurnID    string         `json:"turnId,omitempty"`
	Reason    string         `json:"reason"`
	FinalText trace.JSONText `json:"finalText,omitempty"`
	Error     string         `json:"error,omitempty"`
}

// Complete says that a prompt is done, sometimes twice.
type Complete struct {
	MessageID string `json:"messageId,omitempty"`
}

// Aborted says that the agent has stopped.
type Aborted struct{}

// Reverted says which messages are gone.
type Reverted struct {
	MessageIDs List[string] `json:"messageIds"`
}

// Screenshot is a picture that the agent took, in base64 or as a data URL.
type Screenshot struct {
	Data        string `json:"data"`
	Description string `json:"description,omitempty"`
	MessageID   string `json:"messageId,omitempty"`
}

// UsageReport tells what a turn used, after its end.
type UsageReport struct {
	TurnID  string           `json:"turnId"`
	Entries List[UsageEntry] `json:"entries"`
}

// UsageEntry is the usage of one message of the model.
type UsageEntry struct {
	MessageID    string `json:"ocMessageId"`
	Model        string `json:"model"`
	InputTokens  int64  `json:"inputTokens"`
	OutputTokens int64  `json:"outputTokens"`
}

// Request is one of the many things that a runner asks for and waits for, answered
// by a Result.
type Request struct {
	Name      string          `json:"-"`
	RequestID string          `json:"requestId"`
	Raw       json.RawMessage `json:"-"`
}

// MarshalJSON implements json.Marshaler.
func (f Request) MarshalJSON() ([]byte, error) {
	fields := map[string]json.RawMessage{}
	if len(f.Raw) > 0 {
		if err := json.Unmarshal(f.Raw, &fields); err != nil {
			return nil, err
		}
	}
	delete(fields, "type")
	id, err := json.Marshal(f.RequestID)
	if err != nil {
		return nil, err
	}
	fields["requestId"] = id
	return json.Marshal(fields)
}

// Frames to a runner. Answer, Abort, Revert, Diff, Review and
// Pong are as on the other socket.

// RunnerPrompt hands a user's prompt on.
type RunnerPrompt struct {
	MessageID   string           `json:"messageId"`
	Content     string           `json:"content"`
	Model       string           `json:"model,omitempty"`
	Attachments List[Attachment] `json:"attachments,omitempty"`
	Channel
	ThreadID    string `json:"threadId,omitempty"`
	AuthorID    string `json:"authorId,omitempty"`
	AuthorEmail string `json:"authorEmail,omitempty"`
	AuthorName  string `json:"authorName,omitempty"`
	// Traceparent is the W3C Trace Context of the request behind the prompt.
	Traceparent string `json:"traceparent,omitempty"`
}

// RunnerInit is the first frame that a runner gets.
type RunnerInit struct{}

// OpencodeConfig is the second.
type OpencodeConfig struct {
	Config OpencodeSettings `json:"config"`
}

// OpencodeSettings is what a runner starts its agent with.
type OpencodeSettings struct {
	Tools          map[string]bool   `json:"tools,omitempty"`
	ProviderKeys   map[string]string `json:"providerKeys,omitempty"`
	Instructions   []string          `json:"instructions,omitempty"`
	IsOrchestrator bool              `json:"isOrchestrator"`
}

// PluginContent is what plugins add to the agent.
type PluginContent struct {
	Content Plugins `json:"pluginContent"`
}

// Plugins are lists that the runner expects, also empty ones.
type Plugins struct {
	Personas         []json.RawMessage `json:"personas"`
	Skills           []json.RawMessage `json:"skills"`
	Tools            []json.RawMessage `json:"tools"`
	AllowRepoContent bool              `json:"allowRepoContent"`
}

// RepoConfig says which repository the runner clones; without a token, none.
type RepoConfig struct {
	Token     *string           `json:"token"`
	ExpiresAt string            `json:"expiresAt,omitempty"`
	GitConfig map[string]string `json:"gitConfig"`
	RepoURL   string            `json:"repoUrl,omitempty"`
	Branch    string            `json:"branch,omitempty"`
	Ref       string            `json:"ref,omitempty"`
}

// OpencodeCommand hands a browser's Command on.
type OpencodeCommand struct {
	Command   string `json:"command"`
	Args      string `json:"args,omitempty"`
	RequestID string `json:"requestId"`
}

// NewSession gives a channel a new conversation.
type NewSession struct {
	Channel
	RequestID string `json:"requestId"`
}

// CallToolPending says that a request waits for a person.
type CallToolPending struct {
	RequestID    string `json:"requestId"`
	InvocationID string `json:"invocationId"`
	Message      string `json:"message"`
}

// Result answers a Request. Every request of a runner must get one, or the agent's
// tool hangs.
type Result struct {
	// Request is the type of the request that it answers.
	Request   string
	RequestID string
	// Error says why there is no result.
	Error string
	// Fields are the members of the result.
	Fields map[string]json.RawMessage
}

// MarshalJSON implements json.Marshaler.
func (f Result) MarshalJSON() ([]byte, error) {
	fields := map[string]any{}
	for name, value := range f.Fields {
		fields[name] = value
	}
	if f.Error != "" {
		fields["error"] = f.Error
	}
	fields["requestId"] = f.RequestID
	return json.Marshal(fields)
}
