package wire

import "encoding/json"

// Questions and approvals.

// Question is a runner's question to the user.
type Question struct {
	QuestionID string       `json:"questionId"`
	Text       string       `json:"text"`
	Options    List[string] `json:"options,omitempty"`
	ExpiresAt  int64        `json:"expiresAt,omitempty"` // seconds since 1970
	// MessageID is the prompt.
	MessageID string `json:"messageId,omitempty"`
	Channel
}

// InteractivePrompt asks a question or for an approval. The session agent repeats the frame
// after Init.
type InteractivePrompt struct {
	Prompt Ask `json:"prompt" need:""`
	Channel
}

// The types of an InteractivePrompt.
const (
	AskApproval = "approval"
	AskQuestion = "question"
)

// Ask is what an InteractivePrompt asks.
type Ask struct {
	ID        string          `json:"id"`
	SessionID string          `json:"sessionId"`
	Type      string          `json:"type"`
	Title     string          `json:"title"`
	Body      string          `json:"body,omitempty"`
	Actions   List[AskAction] `json:"actions"`
	ExpiresAt int64           `json:"expiresAt,omitempty"` // milliseconds since 1970
	Context   AskContext      `json:"context"`
}

// AskAction is one of the answers offered. Those of an approval are approve and deny.
type AskAction struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Style string `json:"style,omitempty"`
}

// The answers to an approval.
const (
	ActionApprove = "approve"
	ActionDeny    = "deny"
)

// AskContext says what an approval is about, and where it belongs: its frame may
// have no channel of its own.
type AskContext struct {
	ToolID       string          `json:"toolId,omitempty"`
	Service      string          `json:"service,omitempty"`
	ActionID     string          `json:"actionId,omitempty"`
	Params       json.RawMessage `json:"params,omitempty"`
	InvocationID string          `json:"invocationId,omitempty"`
	Summary      string          `json:"summary,omitempty"`
	ThreadID     string          `json:"threadId,omitempty"`
	Channel
}

// InteractivePromptResolved tells the answer.
type InteractivePromptResolved struct {
	PromptID   string     `json:"promptId"`
	PromptType string     `json:"promptType,omitempty"`
	Resolution Resolution `json:"resolution"`
	Context    AskContext `json:"context,omitzero"`
}

// Resolution is an answer: the id of an action, or a value.
type Resolution struct {
	ActionID   string `json:"actionId,omitempty"`
	Value      string `json:"value,omitempty"`
	ResolvedBy string `json:"resolvedBy"`
}

// InteractivePromptExpired says that nobody answered.
type InteractivePromptExpired struct {
	PromptID   string     `json:"promptId"`
	PromptType string     `json:"promptType,omitempty"`
	Context    AskContext `json:"context,omitzero"`
}
