package wire

import (
	"bytes"
	"cmp"
)

// readers are the types of frames that have a Go type.
var readers = map[key]func(string, []byte) (Frame, error){ //nolint:gochecknoglobals // never written
	{ToBrowser, "init"}:                        read[Init],
	{ToBrowser, "message"}:                     needs(func(f MessageAdded) string { return unless(f.Data.ID, "data.id") }),
	{ToBrowser, "message.updated"}:             needs(func(f MessageUpdated) string { return unless(f.Data.ID, "data.id") }),
	{ToBrowser, "messages.removed"}:            read[MessagesRemoved],
	{ToBrowser, "chunk"}:                       needs(func(f Chunk) string { return unless(f.MessageID, "messageId") }),
	{ToBrowser, "agentStatus"}:                 read[AgentStatus],
	{ToBrowser, "status"}:                      read[Status],
	{ToBrowser, "interactive_prompt"}:          needs(func(f InteractivePrompt) string { return unless(f.Prompt.ID, "prompt.id") }),
	{ToBrowser, "interactive_prompt_resolved"}: needs(func(f InteractivePromptResolved) string { return unless(f.PromptID, "promptId") }),
	{ToBrowser, "interactive_prompt_expired"}:  needs(func(f InteractivePromptExpired) string { return unless(f.PromptID, "promptId") }),
	{ToBrowser, "queue.state"}:                 read[QueueState],
	{ToBrowser, "queue.withdrawn"}:             needs(func(f QueueWithdrawn) string { return unless(f.Data.MessageID, "data.messageId") }),
	{ToBrowser, "error"}:                       read[Error],
	{ToBrowser, "models"}:                      read[Models],
	{ToBrowser, "model-switched"}:              read[ModelSwitched],
	{ToBrowser, "user.joined"}:                 read[UserJoined],
	{ToBrowser, "user.left"}:                   read[UserLeft],
	{ToBrowser, "title"}:                       read[Title],
	{ToBrowser, "toast"}:                       read[Toast],
	{ToBrowser, "pong"}:                        read[Pong],

	{FromBrowser, "prompt"}: read[Prompt],
	{FromBrowser, "answer"}: needs(func(f Answer) string {
		return cmp.Or(unless(f.QuestionID, "questionId"), unless(f.Answer.String(), "answer"))
	}),
	{FromBrowser, "abort"}:          read[Abort],
	{FromBrowser, "revert"}:         needs(func(f Revert) string { return unless(f.MessageID, "messageId") }),
	{FromBrowser, "diff"}:           read[Diff],
	{FromBrowser, "review"}:         read[Review],
	{FromBrowser, "command"}:        needs(func(f Command) string { return unless(f.Command, "command") }),
	{FromBrowser, "ping"}:           read[Ping],
	{FromBrowser, "approve-action"}: needs(func(f ApproveAction) string { return unless(f.InvocationID, "invocationId") }),
	{FromBrowser, "deny-action"}:    needs(func(f DenyAction) string { return unless(f.InvocationID, "invocationId") }),
	{FromBrowser, "queue.withdraw"}: read[QueueWithdraw],
	{FromBrowser, "queue.promote"}:  read[QueuePromote],
	{FromBrowser, "queue.replace"}:  read[QueueReplace],

	{FromRunner, "message.create"}:           needs(func(f MessageCreate) string { return unless(f.TurnID, "turnId") }),
	{FromRunner, "message.part.text-delta"}:  needs(func(f TextDelta) string { return unless(f.TurnID, "turnId") }),
	{FromRunner, "message.part.tool-update"}: needs(func(f ToolUpdate) string { return cmp.Or(unless(f.TurnID, "turnId"), unless(f.CallID, "callId")) }),
	{FromRunner, "message.finalize"}:         read[Finalize],
	{FromRunner, "complete"}:                 read[Complete],
	{FromRunner, "agentStatus"}:              read[AgentStatus],
	{FromRunner, "question"}:                 needs(func(f Question) string { return unless(f.QuestionID, "questionId") }),
	{FromRunner, "error"}:                    read[Error],
	{FromRunner, "aborted"}:                  read[Aborted],
	{FromRunner, "title"}:                    read[Title],
	{FromRunner, "model-switched"}:           read[ModelSwitched],
	{FromRunner, "screenshot"}:               read[Screenshot],
	{FromRunner, "usage-report"}:             read[UsageReport],
	{FromRunner, "ping"}:                     read[Ping],

	{ToRunner, "prompt"}: needs(func(f RunnerPrompt) string { return unless(f.MessageID, "messageId") }),
	{ToRunner, "answer"}: needs(func(f Answer) string {
		return cmp.Or(unless(f.QuestionID, "questionId"), unless(f.Answer.String(), "answer"))
	}),
	{ToRunner, "abort"}:           read[Abort],
	{ToRunner, "revert"}:          needs(func(f Revert) string { return unless(f.MessageID, "messageId") }),
	{ToRunner, "diff"}:            read[Diff],
	{ToRunner, "review"}:          read[Review],
	{ToRunner, "pong"}:            read[Pong],
	{ToRunner, "init"}:            read[RunnerInit],
	{ToRunner, "opencode-config"}: read[OpencodeConfig],
	{ToRunner, "plugin-content"}:  read[PluginContent],
	{ToRunner, "repo-config"}:     read[RepoConfig],
}

func (f *Request) named(typ string, data []byte) { f.Name, f.Raw = typ, bytes.Clone(data) }

// needs reads a frame that means nothing without a field. lacks names a field that is missing.
func needs[F Frame](lacks func(F) string) func(string, []byte) (Frame, error) {
	return func(typ string, data []byte) (Frame, error) {
		f, err := read[F](typ, data)
		if err != nil {
			return nil, err
		}
		if field := lacks(f.(F)); field != "" { //nolint:forcetypeassert // read returns no other
			return nil, &FieldError{Type: typ, Field: field}
		}
		return f, nil
	}
}

func unless(value, field string) string {
	if value != "" {
		return ""
	}
	return field
}
