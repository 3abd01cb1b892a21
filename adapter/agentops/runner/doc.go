// Package runner makes an Agent Ops runner an agent: the program that bridges
// OpenCode in a sandbox and the session agent. A runner opens the connection, to the place
// of the session agent: [Runtime.Admit] accepts it, and a turn waits until there is one.
//
// A runner gets init, opencode-config, plugin-content and repo-config at once, because it
// waits for each of them. They are empty, so the runner keeps the settings of its
// environment. A runner gets no prompt before it has said for the first time that it is
// idle. A second runner of a session replaces the first.
//
// The runner ends a prompt with complete or aborted; message.finalize only says with
// which outcome. A runner that was lost may come back and go on in the middle of the
// prompt. A runner that comes back and is idle gets the prompt again, and its repetitions
// are not recorded twice. After a minute without a runner the turn fails.
//
// A runner asks for some forty things that only an Agent Ops server has, such as memory,
// tasks and pull requests. Each request gets an error at once, because the tool behind it
// would otherwise hang for minutes.
package runner
