package agentops

import "encoding/json"

// Questions and approvals, of all three generations.

// Question asks the user something. A runner sends it at all times, browsers got it
// until 12 March 2026. It is repeated after Init, then without ExpiresAt.
type Question struct {
	QuestionID string       `json:"questionId"`
	Text       string       `json:"text"`
	Options    List[string] `json:"options,omitempty"`
	ExpiresAt  int64        `json:"expiresAt,omitempty"` // seconds since 1970
	// MessageID is the prompt, in a runner's frame.
	MessageID string `json:"messageId,omitempty"`
	Channel
}

// Action is what an approval was asked for until 12 March 2026.
type Action struct {
	InvocationID string `json:"invocationId"`
	ToolID       string `json:"toolId,omitempty"`
	Service      string `json:"service,omitempty"`
	ActionID     string `json:"actionId,omitempty"`
}

// ActionApprovalRequired asks whether an action may be done.
type ActionApprovalRequired struct {
	Action
	RiskLevel string          `json:"riskLevel,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	ExpiresAt int64           `json:"expiresAt,omitempty"` // milliseconds since 1970
	SessionID string          `json:"sessionId,omitempty"`
}

// ActionApproved says that it may.
type ActionApproved struct{ Action }

// ActionDenied says that it may not.
type ActionDenied struct {
	Action
	Reason string `json:"reason,omitempty"`
}

// ActionExpired says that nobody answered.
type ActionExpired struct{ Action }

// InteractivePrompt asks a question or for an approval, since 12 March 2026. It is
// repeated after Init.
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
	RiskLevel    string          `json:"riskLevel,omitempty"`
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
