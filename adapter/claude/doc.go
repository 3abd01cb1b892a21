// Package claude runs Claude Code and reads its stream-json protocol.
//
// [Decoder] is the pure half. It takes both directions of the protocol, as
// stdin and stdout of the process carry them, and needs no more than the
// output: with partial messages or without, with the control protocol or
// without. What it holds to:
//
//   - Deltas come from stream_event lines, wholes from the assistant lines that
//     repeat each block. Where there are no stream events (sub-agents, older
//     versions, no partial messages) the assistant lines are all there is.
//   - A message that broke off and is said anew continues where it broke off.
//   - Words that Claude Code puts into the user's mouth, and error texts that it
//     puts into the model's, are never shown as messages.
//   - How a turn ended is judged by is_error and terminal_reason.
//   - A result ends a turn. Whatever comes after it without a prompt (a
//     background task that reports) begins a turn of its own.
//
// [Runtime] is the other half: one process for each session.
package claude
