// Package trace is the contract of Tributary: what an agent did, in one closed
// vocabulary that every adapter writes and every output reads. The package does no
// I/O. Beside the standard library it imports only the quoting of JSON strings and
// the comparison of texts.
//
// An [Event] is what happened. A [Record] is an Event that the log has
// accepted: it has a session, a turn and a sequence number.
//
// # Deltas are ephemeral, whole events are the truth
//
// A part of a message is on record twice: as deltas while it grows, and as a whole
// with the full text once it is over. A reader that wants the truth ignores every
// ephemeral record (see [Ephemeral]) and folds nothing; a reader that wants to
// see it grow reads all of them. Both end with the same message. The start records
// (message.start, thought.start, tool_call.start) are kept, so that the order in
// which parts began survives.
//
// # The grammar of a turn
//
//	turn    = [rewind] [prompt] [reply { step | pause | words }] [rewind] stop
//	step    = step(start) { part } [pause] step(end)
//	words   = prompt reply (permission_response | answer)
//	part    = message.start { message.delta } message
//	        | thought.start { thought.delta } thought
//	        | tool_call.start { tool_call.delta } tool_call
//	        | tool_result | permission_request | question | ...
//
// Only a [Builder] writes a turn, so every turn in a log obeys the grammar and these
// rules:
//
//   - A part opens before its delta. A result follows its call. A call id names one call.
//   - The Builder closes open parts before the end of their step and before the stop.
//   - A turn has exactly one stop, its last record.
//   - A call may outlive its step. The result stands where it arrived.
//   - Events of sub-agents belong to no step.
//   - If a retry supersedes a part, the part may have its whole twice: first without the
//     mark, later with the mark.
//   - If the agent changes a call before its result, the call has its whole again.
//   - A refused call ends as denied.
//   - The owner of the turn writes prompt, reply and rewind. A turn that never ran has no
//     reply.
//   - A pause puts requests to the user. The pause closes the step and the parts of
//     sub-agents, because readers leave there.
//   - An answer stands where it arrived. An answer in words begins another message.
//   - A rewind at the start of a turn removes other turns. A rewind before the stop
//     removes the turn itself.
//
// # Concurrency of a Builder
//
// Arguments of a Builder belong to the Builder: it keeps lists without a copy.
//
// A Builder is safe for concurrent use. Calls return as soon as the event is
// queued; one append is in flight at a time, and what arrives meanwhile goes
// with the next. A call blocks while more than 4 MB wait. Finish always gets in
// and returns when everything is on record. Calls after Finish are counted and
// otherwise do nothing. A failed append poisons the Builder: nothing more is
// written, [Builder.Failed] is closed, and Finish returns the error.
package trace
