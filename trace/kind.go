package trace

// This file names the kinds of payloads, and tells which of them are ephemeral.

// Kind names a payload type; it is the "type" of the JSON envelope.
type Kind string

// The closed set of kinds.
const (
	KindPrompt             Kind = "prompt"
	KindReply              Kind = "reply"
	KindMessageStart       Kind = "message.start"
	KindMessageDelta       Kind = "message.delta"
	KindMessage            Kind = "message"
	KindThoughtStart       Kind = "thought.start"
	KindThoughtDelta       Kind = "thought.delta"
	KindThought            Kind = "thought"
	KindToolCallStart      Kind = "tool_call.start"
	KindToolCallDelta      Kind = "tool_call.delta"
	KindToolCall           Kind = "tool_call"
	KindToolResultProgress Kind = "tool_result.progress"
	KindToolResult         Kind = "tool_result"
	KindPermissionRequest  Kind = "permission_request"
	KindPermissionResponse Kind = "permission_response"
	KindQuestion           Kind = "question"
	KindAnswer             Kind = "answer"
	KindPause              Kind = "pause"
	KindStep               Kind = "step"
	KindUsage              Kind = "usage"
	KindPlan               Kind = "plan"
	KindFileChange         Kind = "file_change"
	KindSource             Kind = "source"
	KindFile               Kind = "file"
	KindData               Kind = "data"
	KindRewind             Kind = "rewind"
	KindError              Kind = "error"
	KindStatus             Kind = "status"
	KindStop               Kind = "stop"
)

// Ephemeral reports whether the log may drop the payload after its turn.
func Ephemeral(p Payload) bool {
	switch p := p.(type) {
	case MessageDelta, ThoughtDelta, ToolCallDelta, ToolResultProgress, Status:
		return true
	case Data:
		return p.Transient
	case Prompt, Reply, MessageStart, Message, ThoughtStart, Thought, ToolCallStart, ToolCall, ToolResult,
		PermissionRequest, PermissionResponse, Question, Answer, Pause, Step, Usage, Plan, FileChange, Source, File,
		Rewind, Error, Stop, Unknown:
	}
	return false
}

func (Prompt) Kind() Kind             { return KindPrompt }
func (Reply) Kind() Kind              { return KindReply }
func (MessageStart) Kind() Kind       { return KindMessageStart }
func (MessageDelta) Kind() Kind       { return KindMessageDelta }
func (Message) Kind() Kind            { return KindMessage }
func (ThoughtStart) Kind() Kind       { return KindThoughtStart }
func (ThoughtDelta) Kind() Kind       { return KindThoughtDelta }
func (Thought) Kind() Kind            { return KindThought }
func (ToolCallStart) Kind() Kind      { return KindToolCallStart }
func (ToolCallDelta) Kind() Kind      { return KindToolCallDelta }
func (ToolCall) Kind() Kind           { return KindToolCall }
func (ToolResultProgress) Kind() Kind { return KindToolResultProgress }
func (ToolResult) Kind() Kind         { return KindToolResult }
func (PermissionRequest) Kind() Kind  { return KindPermissionRequest }
func (PermissionResponse) Kind() Kind { return KindPermissionResponse }
func (Question) Kind() Kind           { return KindQuestion }
func (Answer) Kind() Kind             { return KindAnswer }
func (Pause) Kind() Kind              { return KindPause }
func (Step) Kind() Kind               { return KindStep }
func (Usage) Kind() Kind              { return KindUsage }
func (Plan) Kind() Kind               { return KindPlan }
func (FileChange) Kind() Kind         { return KindFileChange }
func (Source) Kind() Kind             { return KindSource }
func (File) Kind() Kind               { return KindFile }
func (Data) Kind() Kind               { return KindData }
func (Rewind) Kind() Kind             { return KindRewind }
func (Error) Kind() Kind              { return KindError }
func (Status) Kind() Kind             { return KindStatus }
func (Stop) Kind() Kind               { return KindStop }
func (u Unknown) Kind() Kind          { return u.UnknownKind }
