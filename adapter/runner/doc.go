// Package runner makes an Agent Ops runner an agent: the program that bridges
// OpenCode in a sandbox and the session agent. It is the runner that connects, to the
// place where the session agent would stand, and so the other way round than with
// every other agent: [Runtime.Admit] takes its connection, and a turn waits until
// there is one.
//
// # The start of a runner
//
// It gets init, opencode-config, plugin-content and repo-config at once, for it waits
// for each of them; they are empty, so that it keeps what its environment says. It
// gets no prompt before it has said for the first time that it is idle. A second
// runner of a session takes the place of the first.
//
// # The life of a prompt
//
// A prompt is over when the runner says complete, or aborted; message.finalize only
// tells how. A runner that is gone may come back within 5 s and go on in the middle of
// the prompt. After that the prompt is sent again to whoever comes, and what is said
// then for a second time is not written again. After a minute the turn has failed.
//
// # Requests
//
// A runner asks for some forty things that only an Agent Ops server has: memory,
// tasks, pull requests. Each request is answered at once, by an error, or the tool
// behind it would hang for minutes.
package runner
