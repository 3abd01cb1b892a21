package trace

import "encoding/json"

// This file has the payloads, one type for each kind of event.

// Payload is what happened: one of the closed set of types in this file, or
// [Unknown] for a kind that a newer version wrote.
//
//sumtype:decl
type Payload interface {
	// Kind is the "type" of the JSON envelope.
	Kind() Kind
	// size estimates the bytes of its content in memory.
	size() int
}

// Prompt is what a user asked of the agent. A later Prompt of the same turn with the same
// message id replaces the earlier one: its user has changed the text while it waited.
type Prompt struct {
	Message UserMessage `json:"message"`
	// By is the principal who asked.
	By string `json:"by,omitempty"`
	// Channel is where the question was asked, for agents with several.
	Channel string `json:"channel,omitempty"`
	// Traceparent is the caller's place in a distributed trace, in the form of W3C's
	// header of that name, so that an exported turn is a part of the caller's trace.
	Traceparent string `json:"traceparent,omitempty"`
}

// UserMessage is a user's message as it was sent.
type UserMessage struct {
	ID       string          `json:"id"`
	Parts    []InputPart     `json:"parts"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// InputPart is a piece of a user's message.
type InputPart struct {
	Type      InputType `json:"type"`
	Text      string    `json:"text,omitempty"`
	MediaType string    `json:"media_type,omitempty"`
	URL       string    `json:"url,omitempty"`
	Filename  string    `json:"filename,omitempty"`
}

// Reply opens the assistant message that all that follows belongs to.
type Reply struct {
	MessageID string `json:"message_id"`
	Cause     Cause  `json:"cause"`
	// Resume is the agent's resume token as it was when the turn began: the place to
	// go back to if the turn is removed.
	Resume string `json:"resume,omitempty"`
}

// MessageStart opens a text part.
type MessageStart struct {
	Part string `json:"part"`
	Role Role   `json:"role"`
}

// MessageDelta is more text of an open part.
type MessageDelta struct {
	Part  string `json:"part"`
	Delta string `json:"delta"`
}

// Message is the whole text of a part, which it ends.
type Message struct {
	Part string `json:"part"`
	Role Role   `json:"role"`
	Text string `json:"text"`
	// Superseded marks text that a retry of the agent has replaced by another part.
	Superseded bool `json:"superseded,omitempty"`
}

// ThoughtStart opens a part of reasoning.
type ThoughtStart struct {
	Part string `json:"part"`
}

// ThoughtDelta is more reasoning of an open part.
type ThoughtDelta struct {
	Part  string `json:"part"`
	Delta string `json:"delta"`
}

// Thought is the whole reasoning of a part, which it ends.
type Thought struct {
	Part string `json:"part"`
	Text string `json:"text"`
	// Signature is the model provider's proof of the reasoning, opaque.
	Signature  string `json:"signature,omitempty"`
	Superseded bool   `json:"superseded,omitempty"`
}

// ToolCallStart says that the agent begins to write a tool call.
type ToolCallStart struct {
	ToolCallID string `json:"tool_call_id"`
	// RawName is the agent's own name of the tool.
	RawName string `json:"raw_name"`
	// Name is the name shown to people; often the same.
	Name     string   `json:"name"`
	ToolKind ToolKind `json:"kind"`
	Title    string   `json:"title,omitempty"`
}

// ToolCallDelta is more of the call's input, as JSON text.
type ToolCallDelta struct {
	ToolCallID string `json:"tool_call_id"`
	Delta      string `json:"delta"`
}

// ToolCall is a whole call, with its input.
type ToolCall struct {
	ToolCallID string   `json:"tool_call_id"`
	RawName    string   `json:"raw_name"`
	Name       string   `json:"name"`
	ToolKind   ToolKind `json:"kind"`
	Title      string   `json:"title,omitempty"`
	// Input is the call's argument, usually an object.
	Input json.RawMessage `json:"input"`
	// InputText is what was written of the input when it never became JSON
	// because the agent was cut off; Input is then {}.
	InputText string     `json:"input_text,omitempty"`
	Locations []Location `json:"locations,omitempty"`
	// Continues is the id of an earlier turn that has the same call under the same id: the
	// call went on after that turn, and a reader counts both as one.
	Continues string `json:"continues,omitempty"`
	// ProviderState is what the model's server wants back with the call in later requests,
	// opaque. Only the adapter that wrote it reads it; streams and encoded exports leave it out.
	ProviderState json.RawMessage `json:"provider_state,omitempty"`
}

// ToolResultProgress is the output of a running call so far.
type ToolResultProgress struct {
	ToolCallID string          `json:"tool_call_id"`
	Output     json.RawMessage `json:"output"`
}

// ToolResult ends a call.
type ToolResult struct {
	ToolCallID string          `json:"tool_call_id"`
	Status     ToolStatus      `json:"status"`
	Output     json.RawMessage `json:"output"`
	// Error says why, in one sentence or the tool's own words, when the
	// status is not completed.
	Error     string     `json:"error,omitempty"`
	Locations []Location `json:"locations,omitempty"`
}

// Location is a file that a call touches.
type Location struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

// PermissionRequest asks whether a call may run.
type PermissionRequest struct {
	RequestID  string             `json:"request_id"`
	ToolCallID string             `json:"tool_call_id"`
	Title      string             `json:"title"`
	Options    []PermissionOption `json:"options"`
	// DecidedBy names what answers without asking anybody ("policy"); empty
	// when a person is asked.
	DecidedBy string `json:"decided_by,omitempty"`
}

// PermissionOption is one way to answer a permission request.
type PermissionOption struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	OptionKind OptionKind `json:"kind"`
}

// PermissionResponse is the one answer to a permission request.
type PermissionResponse struct {
	RequestID    string            `json:"request_id"`
	Outcome      PermissionOutcome `json:"outcome"`
	ChosenOption string            `json:"chosen_option,omitempty"`
	// OptionKind is the kind of the chosen option.
	OptionKind OptionKind `json:"option_kind,omitempty"`
	// UpdatedInput replaces the call's input.
	UpdatedInput json.RawMessage `json:"updated_input,omitempty"`
	By           string          `json:"by,omitempty"`
	Via          Via             `json:"via,omitempty"`
	Reason       string          `json:"reason,omitempty"`
	// Interrupt ends the turn together with the refusal.
	Interrupt bool `json:"interrupt,omitempty"`
	// Rule names the rule of a policy that decided, as a place in the policy's
	// configuration, such as script[0] or rules[2].
	Rule string `json:"rule,omitempty"`
}

// Allowed reports whether the call may run.
func (r PermissionResponse) Allowed() bool {
	return r.Outcome == Selected && (r.OptionKind == AllowOnce || r.OptionKind == AllowAlways)
}

// Question asks the user something.
type Question struct {
	QuestionID string `json:"question_id"`
	// ToolCallID is the agent's own call behind the question, if any.
	ToolCallID string   `json:"tool_call_id,omitempty"`
	Header     string   `json:"header,omitempty"`
	Text       string   `json:"text"`
	Choices    []Choice `json:"choices,omitempty"`
	// Multiple allows more than one choice.
	Multiple bool `json:"multiple,omitempty"`
}

// Choice is one of the answers offered with a question.
type Choice struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Answer is the one answer to a question.
type Answer struct {
	QuestionID string            `json:"question_id"`
	Outcome    PermissionOutcome `json:"outcome"`
	// Values are the chosen labels or the free text; empty when nobody answered.
	Values []string `json:"values"`
	// Reason says why there are none.
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`
	Via    Via    `json:"via,omitempty"`
}

// Pause puts permission requests, or questions, to the user: the turn waits for
// them, and readers may leave. Requests that come during the wait are put to the
// user later, by a pause of their own.
type Pause struct {
	Requests []string `json:"requests"`
	// Held says that readers stay: they expect the answer to come by another way than
	// their own next request. A later Pause of the same requests ends their streams.
	Held bool `json:"held,omitempty"`
}

// Step brackets one model call of the agent.
type Step struct {
	Phase Phase  `json:"phase"`
	Name  string `json:"name,omitempty"`
	// NativeID, at the start of a step, is the agent's own id of what begins here,
	// such as the id of its turn.
	NativeID string `json:"native_id,omitempty"`
	// Finish, at the end of a step, is the agent's own word for why the model stopped
	// writing, such as tool_use or length.
	Finish string `json:"finish,omitempty"`
}

// Usage counts what was used, as the agent says. If every count of tokens is zero, they
// are unknown, and the JSON form has none of them.
type Usage struct {
	Scope UsageScope `json:"scope"`
	// InputTokens are all tokens that the model read, and OutputTokens all that it wrote.
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	// CacheReadTokens and CacheWriteTokens are parts of the input, and ReasoningTokens a
	// part of the output. Adapters convert the counts of agents that report them apart.
	CacheReadTokens  int64 `json:"cache_read_tokens,omitempty"`
	CacheWriteTokens int64 `json:"cache_write_tokens,omitempty"`
	ReasoningTokens  int64 `json:"reasoning_tokens,omitempty"`
	// CostUSD is in US dollars; absent when the agent does not say.
	CostUSD *float64 `json:"cost_usd,omitempty"`
	// ContextUsed and ContextSize are in tokens.
	ContextUsed int64  `json:"context_used,omitempty"`
	ContextSize int64  `json:"context_size,omitempty"`
	Model       string `json:"model,omitempty"`
}

// Plan is the agent's plan as it now stands; it replaces the one before.
type Plan struct {
	Entries []PlanEntry `json:"entries"`
}

// PlanEntry is one line of a plan.
type PlanEntry struct {
	Content string     `json:"content"`
	Status  PlanStatus `json:"status"`
}

// FileChange says that a file of the workspace changed.
type FileChange struct {
	Path       string     `json:"path"`
	Change     ChangeKind `json:"change"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	// Diff is a unified diff, if the agent gives one.
	Diff string `json:"diff,omitempty"`
}

// Source is something the agent cites.
type Source struct {
	SourceID  string `json:"source_id"`
	URL       string `json:"url,omitempty"`
	Title     string `json:"title,omitempty"`
	MediaType string `json:"media_type,omitempty"`
	Filename  string `json:"filename,omitempty"`
}

// File is a file that the agent hands to the user; the URL may be a data URL.
type File struct {
	URL       string `json:"url"`
	MediaType string `json:"media_type"`
	Filename  string `json:"filename,omitempty"`
}

// Data is an agent's own event that has no kind of its own.
type Data struct {
	Name string `json:"name"`
	// ID makes a later Data of the same name replace this one.
	ID    string          `json:"id,omitempty"`
	Value json.RawMessage `json:"value"`
	// Transient data is ephemeral: shown while it happens, not kept.
	Transient bool `json:"transient,omitempty"`
	// Domain marks an event of the agent's world, such as the state of its repository,
	// and not of the conversation. The event belongs to no step, and a stream shows it
	// only if the configuration asks for events of that name.
	Domain bool `json:"domain,omitempty"`
}

// Rewind removes a message and all that followed it from the history. The removed
// messages stay in the log as an abandoned branch.
type Rewind struct {
	// To is the id of the first message that is removed.
	To string `json:"to"`
}

// Error is something that went wrong and did not end the turn, or a notice to the user.
type Error struct {
	Message string `json:"message"`
	Code    string `json:"code,omitempty"`
	// Level is LevelNotice for what is no failure, else empty.
	Level Level `json:"level,omitempty"`
}

// Status says what the agent is doing.
type Status struct {
	State  State  `json:"state"`
	Detail string `json:"detail,omitempty"`
}

// Stop ends a turn. Each turn has exactly one Stop, its last record.
type Stop struct {
	// Reason is the agent's or the gateway's word for why, such as end_turn,
	// max_tokens, stopped, disconnected, idle, restart.
	Reason  string  `json:"reason"`
	Outcome Outcome `json:"outcome"`
	// Class says what kind of failure it was, in the same words for all agents; empty
	// if nobody knows, and for a turn that did not fail.
	Class Class `json:"class,omitempty"`
	// Error says in one sentence what failed.
	Error string `json:"error,omitempty"`
	// FinalOutput is the text that the agent ended with.
	FinalOutput string `json:"final_output"`
}

// Unknown is a payload of a kind that this version does not know. Its bytes are
// kept as they came.
type Unknown struct {
	UnknownKind Kind
	Raw         json.RawMessage
}
