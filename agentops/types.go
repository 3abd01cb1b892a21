//nolint:revive // all of them implement Frame, and say no more than their names
package agentops

// Type implements Frame.
func (Init) Type() string                      { return "init" }
func (Models) Type() string                    { return "models" }
func (MessageAdded) Type() string              { return "message" }
func (MessageUpdated) Type() string            { return "message.updated" }
func (MessagesRemoved) Type() string           { return "messages.removed" }
func (Chunk) Type() string                     { return "chunk" }
func (AgentStatus) Type() string               { return "agentStatus" }
func (Status) Type() string                    { return "status" }
func (Question) Type() string                  { return "question" }
func (ActionApprovalRequired) Type() string    { return "action_approval_required" }
func (ActionApproved) Type() string            { return "action_approved" }
func (ActionDenied) Type() string              { return "action_denied" }
func (ActionExpired) Type() string             { return "action_expired" }
func (InteractivePrompt) Type() string         { return "interactive_prompt" }
func (InteractivePromptResolved) Type() string { return "interactive_prompt_resolved" }
func (InteractivePromptExpired) Type() string  { return "interactive_prompt_expired" }
func (QueueState) Type() string                { return "queue.state" }
func (QueueWithdrawn) Type() string            { return "queue.withdrawn" }
func (ThreadCreated) Type() string             { return "thread.created" }
func (ThreadUpdated) Type() string             { return "thread.updated" }
func (Error) Type() string                     { return "error" }
func (ModelSwitched) Type() string             { return "model-switched" }
func (UserJoined) Type() string                { return "user.joined" }
func (UserLeft) Type() string                  { return "user.left" }
func (Title) Type() string                     { return "title" }
func (Toast) Type() string                     { return "toast" }
func (CommandResult) Type() string             { return "command-result" }
func (Pong) Type() string                      { return "pong" }
func (Prompt) Type() string                    { return "prompt" }
func (Answer) Type() string                    { return "answer" }
func (Abort) Type() string                     { return "abort" }
func (Revert) Type() string                    { return "revert" }
func (Diff) Type() string                      { return "diff" }
func (Review) Type() string                    { return "review" }
func (Command) Type() string                   { return "command" }
func (Ping) Type() string                      { return "ping" }
func (ApproveAction) Type() string             { return "approve-action" }
func (DenyAction) Type() string                { return "deny-action" }
func (QueueWithdraw) Type() string             { return "queue.withdraw" }
func (QueuePromote) Type() string              { return "queue.promote" }
func (QueueReplace) Type() string              { return "queue.replace" }
func (MessageCreate) Type() string             { return "message.create" }
func (TextDelta) Type() string                 { return "message.part.text-delta" }
func (ToolUpdate) Type() string                { return "message.part.tool-update" }
func (Finalize) Type() string                  { return "message.finalize" }
func (Complete) Type() string                  { return "complete" }
func (Aborted) Type() string                   { return "aborted" }
func (Reverted) Type() string                  { return "reverted" }
func (Screenshot) Type() string                { return "screenshot" }
func (UsageReport) Type() string               { return "usage-report" }
func (f Request) Type() string                 { return f.Name }
func (RunnerPrompt) Type() string              { return "prompt" }
func (RunnerInit) Type() string                { return "init" }
func (OpencodeConfig) Type() string            { return "opencode-config" }
func (PluginContent) Type() string             { return "plugin-content" }
func (RepoConfig) Type() string                { return "repo-config" }
func (OpencodeCommand) Type() string           { return "opencode-command" }
func (NewSession) Type() string                { return "new-session" }
func (Stop) Type() string                      { return "stop" }
func (CallToolPending) Type() string           { return "call-tool-pending" }
func (f Result) Type() string                  { return AnswerType(f.Request) }
