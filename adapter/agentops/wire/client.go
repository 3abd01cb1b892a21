package wire

// Frames of a browser.

// Prompt asks the agent.
type Prompt struct {
	Content     string           `json:"content"`
	Model       string           `json:"model,omitempty"`
	Attachments List[Attachment] `json:"attachments,omitempty"`
	// QueueMode is followup, collect or steer.
	QueueMode string `json:"queueMode,omitempty"`
	Channel
	ThreadID string `json:"threadId,omitempty"`
}

// The fate of a prompt while another one runs.
const (
	QueueFollowup = "followup"
	QueueCollect  = "collect"
	QueueSteer    = "steer"
)

// Answer answers a question; the session agent tells it to the runner with the
// same frame.
type Answer struct {
	QuestionID string      `json:"questionId"`
	Answer     AnswerValue `json:"answer" need:""`
}

// Abort stops the whole session when a browser says it; told to a runner it may
// name a channel.
type Abort struct{ Channel }

// Revert removes a message and all later ones.
type Revert struct {
	MessageID string `json:"messageId"`
}

// Diff asks for the changes in the workspace. The frame for a runner has the id of the request.
type Diff struct {
	RequestID string `json:"requestId,omitempty"`
}

// Review asks for a review of what has changed.
type Review struct {
	RequestID string `json:"requestId,omitempty"`
}

// Command is undo, redo, compact or new-session.
type Command struct {
	Command   string `json:"command"`
	Args      string `json:"args,omitempty"`
	RequestID string `json:"requestId,omitempty"`
	Channel
}

// Ping asks for a Pong, on both sockets.
type Ping struct{}

// ApproveAction approves.
type ApproveAction struct {
	InvocationID string `json:"invocationId"`
}

// DenyAction refuses.
type DenyAction struct {
	InvocationID string `json:"invocationId"`
	Reason       string `json:"reason,omitempty"`
}

// QueueWithdraw takes the waiting prompt back.
type QueueWithdraw struct{}

// QueuePromote lets the waiting prompt run now.
type QueuePromote struct{}

// QueueReplace puts another prompt in the place of the waiting one.
type QueueReplace struct{ Prompt }
