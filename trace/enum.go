package trace

// This file has the closed sets of words that payloads use.

// InputType is the type of a piece of a user's message.
type InputType string

// The input types.
const (
	InputText InputType = "text"
	InputFile InputType = "file"
)

// Role says whose words a message holds.
type Role string

// The roles.
const (
	RoleAssistant Role = "assistant"
	RoleUser      Role = "user"
	RoleSystem    Role = "system"
)

// Cause says why an assistant message was opened.
type Cause string

// The causes of a reply.
const (
	CausePrompt Cause = "prompt" // a prompt began the turn
	CauseAnswer Cause = "answer" // a typed answer to what the turn was paused on
	CauseSteer  Cause = "steer"  // a message sent into the running turn
	CauseAgent  Cause = "agent"  // the agent began by itself
)

// ToolKind says what a tool does. The values are those of the Agent Client
// Protocol.
type ToolKind string

// The tool kinds.
const (
	ToolRead       ToolKind = "read"
	ToolEdit       ToolKind = "edit"
	ToolDelete     ToolKind = "delete"
	ToolMove       ToolKind = "move"
	ToolSearch     ToolKind = "search"
	ToolExecute    ToolKind = "execute"
	ToolThink      ToolKind = "think"
	ToolFetch      ToolKind = "fetch"
	ToolSwitchMode ToolKind = "switch_mode"
	ToolOther      ToolKind = "other"
)

// ToolStatus says how a call ended.
type ToolStatus string

// The ends of a call.
const (
	ToolCompleted ToolStatus = "completed"
	ToolFailed    ToolStatus = "failed"
	ToolDenied    ToolStatus = "denied"
	ToolCanceled  ToolStatus = "canceled"
)

// ToolStatuses are all of them.
func ToolStatuses() []ToolStatus {
	return []ToolStatus{ToolCompleted, ToolFailed, ToolDenied, ToolCanceled}
}

// OptionKind says what choosing a permission option means.
type OptionKind string

// The kinds of permission options.
const (
	AllowOnce    OptionKind = "allow_once"
	AllowAlways  OptionKind = "allow_always"
	RejectOnce   OptionKind = "reject_once"
	RejectAlways OptionKind = "reject_always"
)

// PermissionOutcome says how a permission request or a question ended.
type PermissionOutcome string

// The ends of a permission request or a question.
const (
	Selected PermissionOutcome = "selected" // somebody chose
	Canceled PermissionOutcome = "canceled" // withdrawn, or the turn ended
	Expired  PermissionOutcome = "expired"  // nobody chose in time
)

// Via is the way by which a person's answer came.
type Via string

// The ways of answers.
const (
	ViaChat    Via = "chat"    // with the next request of the chat, as an answered part of the message
	ViaWords   Via = "words"   // as a message of its user
	ViaRequest Via = "request" // by a request of its own
)

// Phase is the beginning or the end of a step.
type Phase string

// The phases of a step.
const (
	PhaseStart Phase = "start"
	PhaseEnd   Phase = "end"
)

// UsageScope says what the numbers of a Usage count.
type UsageScope string

// The scopes of usage.
const (
	UsageStep    UsageScope = "step"
	UsageTurn    UsageScope = "turn"
	UsageSession UsageScope = "session"
)

// PlanStatus is the state of a plan's entry.
type PlanStatus string

// The states of a plan's entry.
const (
	PlanPending    PlanStatus = "pending"
	PlanInProgress PlanStatus = "in_progress"
	PlanCompleted  PlanStatus = "completed"
)

// ChangeKind says how a file changed.
type ChangeKind string

// The ways a file changes.
const (
	FileCreated  ChangeKind = "created"
	FileModified ChangeKind = "modified"
	FileDeleted  ChangeKind = "deleted"
	FileMoved    ChangeKind = "moved"
)

// State says what the agent is doing.
type State string

// The states of an agent.
const (
	StateIdle        State = "idle"
	StateThinking    State = "thinking"
	StateStreaming   State = "streaming"
	StateToolCalling State = "tool_calling"
	StateError       State = "error"
)

// Outcome says how a turn ended.
type Outcome string

// The ends of a turn.
const (
	OutcomeCompleted Outcome = "completed"
	OutcomeFailed    Outcome = "failed"
	OutcomeCanceled  Outcome = "canceled"
)

// Level says whether an Error is a failure.
type Level string

// LevelNotice marks a sentence for the user that tells of no failure, such as that the
// agent has made its context smaller.
const LevelNotice Level = "notice"

// Class is a kind of failure that ends a turn.
type Class string

// The classes of failures. The first four are of the way to the model, and ClassGateway is of
// the gateway, or of the way to the agent: see [Stop.Infrastructure].
const (
	ClassAuth       Class = "auth"            // the provider refused the key or the account
	ClassRateLimit  Class = "rate_limit"      // too many requests or tokens, or no credit left
	ClassOverloaded Class = "overloaded"      // the provider could not serve the request
	ClassNetwork    Class = "network"         // the provider could not be reached, or did not answer
	ClassRequest    Class = "refused_request" // the provider did not accept the request
	ClassContext    Class = "context"         // the conversation does not fit into the model's context
	ClassLimit      Class = "limit"           // a limit of the agent: of its steps, its time, its tokens or its budget
	ClassGateway    Class = "gateway"         // the agent could not be started or reached, or the gateway ended it
)
