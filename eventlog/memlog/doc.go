// Package memlog is an eventlog.Store in memory, for tests and for programs that
// use Tributary as a library and need nothing to survive them.
//
// A Store keeps all records until their session is deleted, and has no bound.
package memlog
