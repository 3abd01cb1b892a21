// Package browser shows a session's records as the frames that an Agent Ops browser
// reads, so that such a browser can look at a session of any agent.
//
// A [Translator] is pure: the same records give the same frames, and the frames of
// some records are the beginning of the frames of more. It keeps the turns that are
// not over and nothing else; [Translator.Join] tells somebody who comes now how these
// stand.
//
// # What becomes of what
//
//	prompt                    message (user); while another turn runs queue.state and status
//	reply                     agentStatus thinking, message (assistant, empty)
//	message.delta             chunk
//	message                   the chunk that was missing, if any
//	thought.*                 agentStatus thinking: browsers get no reasoning
//	tool_call.start           agentStatus tool_calling, message.updated
//	tool_call, tool_result    message.updated
//	question                  interactive_prompt (February: question)
//	permission_request        interactive_prompt (February: action_approval_required)
//	answer, permission_…      interactive_prompt_resolved, _expired, and their like
//	status                    agentStatus
//	error                     toast: the frame error would end the turn
//	file_change               files-changed, after the end
//	data of the agent's world git-state, pr-created, child-session and their like
//	rewind                    messages.removed
//	stop                      message.updated with a part finish, agentStatus idle, and
//	                          status with runnerBusy false, unless another prompt waits
//
// What a sub-agent says and does is not shown, as a child session's is not; what it
// asks is. A canceled turn has a part finish, which the session agent leaves out: who
// did not cancel it could not know otherwise.
//
// # Text
//
// A chunk has no place: it goes on with the text that stands last, and text behind a
// tool is a part of its own. So parts of text that follow each other are one in the
// frames, with an empty line between them.
package browser
