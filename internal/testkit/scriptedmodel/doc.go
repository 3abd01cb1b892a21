// Package scriptedmodel is a deterministic stand-in for a model provider, so
// that a real agent can be run with no model, no key and no internet.
//
// # What it answers
//
// The newest directive in a user message of the conversation decides, one on
// a line, up to the last "]]" of that line:
//
//	[[script:plain]]               a short text
//	[[script:think]]               reasoning, then a short text
//	[[script:say TEXT]]            TEXT in deltas of a few runes; \n is a line break
//	[[script:recall]]              a text that quotes every earlier user prompt
//	[[script:slow MS]]             some 40 words, one at a time, MS apart
//	[[script:empty]]               an answer with no content
//	[[script:big N]]               a text of N KB
//	[[script:big N PATH]]          a call that writes N KB to PATH
//	[[script:shell CMD]]           runs CMD
//	[[script:read PATH]]           reads a file
//	[[script:write PATH]]          writes a file
//	[[script:both PATH]]           reads a file and lists it, two calls in one answer
//	[[script:chain PATH]]          read, write PATH.out, list it: one call after another
//	[[script:slow-tool MS]]        a shell call whose input trickles, MS between its pieces
//	[[script:escalate CMD]]        runs CMD, outside the agent's sandbox if its tool has one
//	[[script:plan A | B | C]]      sets a plan: A is done, B is being done, C is open
//	[[script:ask Q? | A | B]]      asks the user Q? with the choices A and B
//	[[script:call NAME {json}]]    calls any tool by name
//	[[script:error CODE]]          that HTTP status, always
//	[[script:error-once CODE ID]]  that HTTP status once for each ID, then a text
//	[[script:error-event]]         some text, then an error event
//	[[script:error-event-once ID]] the same once for each ID, then that text and the rest
//	[[script:error-cut]]           some text, then the connection drops
//
// Once a tool has answered, a last text quotes its result. Shell, read, write,
// plan and ask become whatever tool of that kind the agent offers. No directive is
// answered like plain.
//
// No session is kept: the step that is due follows from the conversation that
// the agent sends back, so a resumed session, a retry and a sub-agent need
// nothing special. The exceptions are error-once and error-event-once, which
// count.
//
// A request that offers no tools is taken for a side call that wants a title
// and gets a short fixed one; [Options.PlayWithoutTools] turns that off.
//
// Message and tool call ids are digests of the directive, the step, the place in
// the conversation and the number of equal requests before. So the same run gives
// the same ids, and no two answers of one server share one.
//
// # Parts
//
// A script ([Play]) says what the model does; a wire says how it is said.
// The wires are Anthropic Messages, OpenAI Chat Completions and Responses, and
// Gemini generateContent, each streamed or in one piece. In one piece an error
// event becomes an HTTP error. [Server] is safe for concurrent use; it ends an
// answer as soon as the client is gone.
package scriptedmodel
