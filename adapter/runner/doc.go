// Package runner makes an Agent Ops runner an agent: the program that bridges
// OpenCode in a sandbox and the session agent. Unlike every other agent, a runner opens
// the connection, to the place of the session agent: [Runtime.Admit] accepts the
// connection, and a turn waits until there is one.
//
// # Parts
//
// A [Decoder] reads the frames of both directions and knows from them what the runner is
// doing. A place holds the connection of one session's runner, the Decoder and the open
// session. A link brings a prompt to the runner that is connected.
//
// # The start of a runner
//
// A runner gets init, opencode-config, plugin-content and repo-config at once, because it
// waits for each of them. They are empty, so the runner keeps the settings of its
// environment. A runner gets no prompt before it has said for the first time that it is
// idle. A second runner of a session replaces the first.
//
// # The life of a prompt
//
// The runner ends a prompt with complete or aborted; message.finalize only says with
// which outcome. A runner that was lost may come back and go on in the middle of the
// prompt. A runner that comes back and is idle gets the prompt again, and its repetitions
// are not recorded twice. After a minute without a runner the turn fails.
//
// # Requests
//
// A runner asks for some forty things that only an Agent Ops server has, such as memory,
// tasks and pull requests. Each request gets an error at once, because the tool behind it
// would otherwise hang for minutes.
package runner
