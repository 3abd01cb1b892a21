// Package e2e tests the binary from outside: a real process on a real data
// directory, with real agents, that is killed without warning.
package e2e
