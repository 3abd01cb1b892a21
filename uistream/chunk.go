package uistream

import "encoding/json"

// This file has the types of chunks.

// Chunk is one message of the stream: one of the types in this file. The
// values of type json.RawMessage hold JSON on one line, as [SafeJSON] makes it.
//
//sumtype:decl
type Chunk interface {
	// Type is the "type" of its JSON.
	Type() string
	appendFields(dst []byte) []byte
}

type (
	// Start opens the assistant message.
	Start struct{ MessageID string }
	// StartStep and FinishStep bracket one model call.
	StartStep  struct{}
	FinishStep struct{}

	// TextStart begins a part of text, TextDelta adds to it, TextEnd ends it.
	TextStart struct{ ID string }
	TextDelta struct{ ID, Delta string }
	TextEnd   struct{ ID string }

	// ReasoningStart begins a part of reasoning, ReasoningDelta adds to it,
	// ReasoningEnd ends it.
	ReasoningStart struct{ ID string }
	ReasoningDelta struct{ ID, Delta string }
	ReasoningEnd   struct{ ID string }

	// ToolInputStart says that the agent begins to write a call.
	ToolInputStart struct {
		ToolCallID, ToolName, Title string
		Form                        Form
	}
	// ToolInputDelta is more of the text of a call's input.
	ToolInputDelta struct{ ToolCallID, Delta string }
	// ToolInputAvailable is a whole call.
	ToolInputAvailable struct {
		ToolCallID, ToolName, Title string
		Input                       json.RawMessage
		Form                        Form
	}
	// ToolInputError is a call whose input the agent could not use.
	ToolInputError struct {
		ToolCallID, ToolName, Title, ErrorText string
		Input                                  json.RawMessage
		Form                                   Form
	}
	// ToolOutputAvailable is what a call gave; a preliminary output is replaced
	// by the next.
	ToolOutputAvailable struct {
		ToolCallID  string
		Output      json.RawMessage
		Preliminary bool
		Form        Form
	}
	// ToolOutputError says why a call gave nothing.
	ToolOutputError struct {
		ToolCallID, ErrorText string
		Form                  Form
	}
	// ToolOutputDenied says that a call was not allowed.
	ToolOutputDenied struct{ ToolCallID string }
	// ToolApprovalRequest asks whether a call may run.
	ToolApprovalRequest struct{ ToolCallID, ApprovalID string }
	// ToolApprovalResponse is the answer to it.
	ToolApprovalResponse struct {
		ApprovalID string
		Approved   bool
		Reason     string
	}

	// SourceURL and SourceDocument are what the agent cites.
	SourceURL      struct{ SourceID, URL, Title string }
	SourceDocument struct{ SourceID, MediaType, Title, Filename string }
	// File is a file that the agent hands over.
	File struct{ URL, MediaType string }
	// Data is an event of the gateway or of an agent, of the type "data-" and Name.
	// One with an ID replaces the one before; a transient one is not kept.
	Data struct {
		Name, ID  string
		Value     json.RawMessage
		Transient bool
	}

	// Error ends the turn: a client reads nothing after it.
	Error struct{ ErrorText string }
	// Abort says that the turn was stopped.
	Abort struct{ Reason string }
	// Finish ends the message.
	Finish struct {
		Reason   string
		Metadata json.RawMessage
	}
)

func (Start) Type() string                { return "start" }
func (StartStep) Type() string            { return "start-step" }
func (FinishStep) Type() string           { return "finish-step" }
func (TextStart) Type() string            { return "text-start" }
func (TextDelta) Type() string            { return "text-delta" }
func (TextEnd) Type() string              { return "text-end" }
func (ReasoningStart) Type() string       { return "reasoning-start" }
func (ReasoningDelta) Type() string       { return "reasoning-delta" }
func (ReasoningEnd) Type() string         { return "reasoning-end" }
func (ToolInputStart) Type() string       { return "tool-input-start" }
func (ToolInputDelta) Type() string       { return "tool-input-delta" }
func (ToolInputAvailable) Type() string   { return "tool-input-available" }
func (ToolInputError) Type() string       { return "tool-input-error" }
func (ToolOutputAvailable) Type() string  { return "tool-output-available" }
func (ToolOutputError) Type() string      { return "tool-output-error" }
func (ToolOutputDenied) Type() string     { return "tool-output-denied" }
func (ToolApprovalRequest) Type() string  { return "tool-approval-request" }
func (ToolApprovalResponse) Type() string { return "tool-approval-response" }
func (SourceURL) Type() string            { return "source-url" }
func (SourceDocument) Type() string       { return "source-document" }
func (File) Type() string                 { return "file" }
func (c Data) Type() string               { return dataPrefix + c.Name }
func (Error) Type() string                { return "error" }
func (Abort) Type() string                { return "abort" }
func (Finish) Type() string               { return "finish" }

// The closed set of finish reasons that every client since 5.0.217 knows.
const (
	finishStop   = "stop"
	finishLength = "length"
	finishFilter = "content-filter"
	finishTools  = "tool-calls"
	finishError  = "error"
	finishOther  = "other"
)
