// Package claude runs Claude Code and reads its stream-json protocol.
//
// A [Decoder] reads both directions of the protocol, and needs no more than the output.
// Partial messages and the control protocol may be on or off. The Decoder has these rules:
//
//   - Deltas come from stream_event lines. Whole blocks come from the assistant lines
//     that repeat each block. Sub-agents and older versions send assistant lines only.
//   - A message that broke off and comes again continues where it broke off.
//   - Claude Code writes some user messages and some error texts itself. The Decoder
//     never shows them as messages.
//   - The fields is_error and terminal_reason say how a turn ended.
//   - A result ends a turn. The report of a background task comes without a prompt and
//     begins a turn of its own.
//
// [Runtime] is the other half: one process for each session.
package claude
