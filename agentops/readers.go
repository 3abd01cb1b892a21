package agentops

import (
	"bytes"
)

// readers are the types of frames that have a Go type.
var readers = map[key]func(string, []byte) (Frame, error){ //nolint:gochecknoglobals // never written
	{ToBrowser, "init"}:                        read[Init],
	{ToBrowser, "models"}:                      read[Models],
	{ToBrowser, "message"}:                     read[MessageAdded],
	{ToBrowser, "message.updated"}:             read[MessageUpdated],
	{ToBrowser, "messages.removed"}:            read[MessagesRemoved],
	{ToBrowser, "chunk"}:                       read[Chunk],
	{ToBrowser, "agentStatus"}:                 read[AgentStatus],
	{ToBrowser, "status"}:                      read[Status],
	{ToBrowser, "interactive_prompt"}:          read[InteractivePrompt],
	{ToBrowser, "interactive_prompt_resolved"}: read[InteractivePromptResolved],
	{ToBrowser, "interactive_prompt_expired"}:  read[InteractivePromptExpired],
	{ToBrowser, "queue.state"}:                 read[QueueState],
	{ToBrowser, "queue.withdrawn"}:             read[QueueWithdrawn],
	{ToBrowser, "thread.created"}:              read[ThreadCreated],
	{ToBrowser, "thread.updated"}:              read[ThreadUpdated],
	{ToBrowser, "error"}:                       read[Error],
	{ToBrowser, "model-switched"}:              read[ModelSwitched],
	{ToBrowser, "user.joined"}:                 read[UserJoined],
	{ToBrowser, "user.left"}:                   read[UserLeft],
	{ToBrowser, "title"}:                       read[Title],
	{ToBrowser, "toast"}:                       read[Toast],
	{ToBrowser, "command-result"}:              read[CommandResult],
	{ToBrowser, "pong"}:                        read[Pong],

	{FromBrowser, "prompt"}:         read[Prompt],
	{FromBrowser, "answer"}:         read[Answer],
	{FromBrowser, "abort"}:          read[Abort],
	{FromBrowser, "revert"}:         read[Revert],
	{FromBrowser, "diff"}:           read[Diff],
	{FromBrowser, "review"}:         read[Review],
	{FromBrowser, "command"}:        read[Command],
	{FromBrowser, "ping"}:           read[Ping],
	{FromBrowser, "approve-action"}: read[ApproveAction],
	{FromBrowser, "deny-action"}:    read[DenyAction],
	{FromBrowser, "queue.withdraw"}: read[QueueWithdraw],
	{FromBrowser, "queue.promote"}:  read[QueuePromote],
	{FromBrowser, "queue.replace"}:  read[QueueReplace],

	{FromRunner, "message.create"}:           read[MessageCreate],
	{FromRunner, "message.part.text-delta"}:  read[TextDelta],
	{FromRunner, "message.part.tool-update"}: read[ToolUpdate],
	{FromRunner, "message.finalize"}:         read[Finalize],
	{FromRunner, "complete"}:                 read[Complete],
	{FromRunner, "agentStatus"}:              read[AgentStatus],
	{FromRunner, "question"}:                 read[Question],
	{FromRunner, "error"}:                    read[Error],
	{FromRunner, "aborted"}:                  read[Aborted],
	{FromRunner, "reverted"}:                 read[Reverted],
	{FromRunner, "models"}:                   read[Models],
	{FromRunner, "title"}:                    read[Title],
	{FromRunner, "model-switched"}:           read[ModelSwitched],
	{FromRunner, "screenshot"}:               read[Screenshot],
	{FromRunner, "thread.created"}:           read[ThreadCreated],
	{FromRunner, "thread.updated"}:           read[ThreadUpdated],
	{FromRunner, "usage-report"}:             read[UsageReport],
	{FromRunner, "command-result"}:           read[CommandResult],
	{FromRunner, "ping"}:                     read[Ping],

	{ToRunner, "prompt"}:            read[RunnerPrompt],
	{ToRunner, "answer"}:            read[Answer],
	{ToRunner, "abort"}:             read[Abort],
	{ToRunner, "revert"}:            read[Revert],
	{ToRunner, "diff"}:              read[Diff],
	{ToRunner, "review"}:            read[Review],
	{ToRunner, "opencode-command"}:  read[OpencodeCommand],
	{ToRunner, "new-session"}:       read[NewSession],
	{ToRunner, "stop"}:              read[Stop],
	{ToRunner, "pong"}:              read[Pong],
	{ToRunner, "init"}:              read[RunnerInit],
	{ToRunner, "opencode-config"}:   read[OpencodeConfig],
	{ToRunner, "plugin-content"}:    read[PluginContent],
	{ToRunner, "repo-config"}:       read[RepoConfig],
	{ToRunner, "call-tool-pending"}: read[CallToolPending],
}

func (f *Request) named(typ string, data []byte) { f.Name, f.Raw = typ, bytes.Clone(data) }

// wants names the field that a frame cannot do without and does not have.

func (f MessageAdded) wants() string              { return unless(f.Data.ID, "data.id") }
func (f MessageUpdated) wants() string            { return unless(f.Data.ID, "data.id") }
func (f Chunk) wants() string                     { return unless(f.MessageID, "messageId") }
func (f Question) wants() string                  { return unless(f.QuestionID, "questionId") }
func (f InteractivePrompt) wants() string         { return unless(f.Prompt.ID, "prompt.id") }
func (f InteractivePromptResolved) wants() string { return unless(f.PromptID, "promptId") }
func (f InteractivePromptExpired) wants() string  { return unless(f.PromptID, "promptId") }
func (f QueueWithdrawn) wants() string            { return unless(f.Data.MessageID, "data.messageId") }
func (f Revert) wants() string                    { return unless(f.MessageID, "messageId") }
func (f Command) wants() string                   { return unless(f.Command, "command") }
func (f ApproveAction) wants() string             { return unless(f.InvocationID, "invocationId") }
func (f DenyAction) wants() string                { return unless(f.InvocationID, "invocationId") }
func (f MessageCreate) wants() string             { return unless(f.TurnID, "turnId") }
func (f TextDelta) wants() string                 { return unless(f.TurnID, "turnId") }
func (f RunnerPrompt) wants() string              { return unless(f.MessageID, "messageId") }
func (f Request) wants() string                   { return unless(f.RequestID, "requestId") }

func (f ToolUpdate) wants() string {
	if f.TurnID == "" {
		return "turnId"
	}
	return unless(f.CallID, "callId")
}

func (f Answer) wants() string {
	if f.QuestionID == "" {
		return "questionId"
	}
	return unless(f.Answer.String(), "answer")
}

func unless(value, field string) string {
	if value != "" {
		return ""
	}
	return field
}
