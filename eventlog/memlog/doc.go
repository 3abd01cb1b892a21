// Package memlog is an eventlog.Store in memory, for tests and for programs that
// use Tributary as a library and need nothing to survive them.
//
// It keeps everything it is given until the session is deleted; it has no bound
// of its own. DropProvisional does what a store on disk does by age.
package memlog
