// Package agentops shows a session's records as the frames that an Agent Ops browser
// reads. So such a browser can show a session of any agent.
//
// A [Translator] is pure: the same records give the same frames, and more records only add
// frames. A Translator keeps the open turns and nothing else. [Translator.Join] sends their
// state to a browser that comes later.
//
// # Records and frames
//
//	prompt                    message (user); while another turn runs queue.state and status
//	reply                     agentStatus thinking, message (assistant, empty)
//	message.delta             chunk
//	message                   the chunk that was missing, if any
//	thought.*                 agentStatus thinking: browsers get no reasoning
//	tool_call.start           agentStatus tool_calling, message.updated
//	tool_call, tool_result    message.updated
//	question                  interactive_prompt
//	permission_request        interactive_prompt
//	answer, permission_…      interactive_prompt_resolved, _expired, and their like
//	status                    agentStatus
//	error                     toast: the frame error would end the turn
//	file_change               files-changed, after the end
//	domain data               git-state, pr-created, child-session and their like
//	rewind                    messages.removed
//	stop                      message.updated with a part finish, agentStatus idle, and
//	                          status with runnerBusy false, unless another prompt waits
//
// Messages and tool calls of a sub-agent are not shown, as those of a child session are
// not. Its requests are shown. A canceled turn has a part finish, so that every browser
// learns of the end. The session agent leaves that part out.
//
// # Text
//
// A chunk names no part: it continues the last text, and text behind a tool is a new part.
// So consecutive parts of text are one part in the frames, with an empty line between them.
package agentops
