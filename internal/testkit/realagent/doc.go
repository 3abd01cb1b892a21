// Package realagent gives Go tests real coding agents that run closed off. The
// agents are pinned versions from npm and PyPI, installed once into a folder outside the
// project. Each has a home of its own, and a scripted model on loopback in place of
// a provider. Tests use the package, and so do the programs that prepare or record
// them.
//
// Agents are installed in $TRIBUTARY_AGENTS_DIR, by default tributary/agents in the user's cache
// folder, as NAME@VERSION and a digest of the lock file. A file lock keeps test packages that run
// at the same time from installing twice. A rename puts a finished installation into place, so an
// interrupted installation never looks finished. Install ahead of the tests with
//
//	go run ./internal/testkit/realagent/install [-all | NAME...]
//
// A test that cannot get its agent fails and says what to do. With -short
// nothing is installed: the test is skipped unless the agent is there.
//
// The file lock needs Unix, and so does this package.
package realagent
