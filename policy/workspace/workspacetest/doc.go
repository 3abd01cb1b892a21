// Package workspacetest is a table of attempts to leave a workspace. Every user of
// package workspace plays the table: the files that an agent reads and writes through
// the gateway, the tools of the in-process agent, and the policy. A user's test gives
// [Run] a function that makes a [User] for a directory; operations that the user does
// not have stay nil.
package workspacetest
