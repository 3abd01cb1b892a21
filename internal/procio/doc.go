// Package procio runs an agent's process: lines in, lines out, and an end that
// is sure to come.
//
// A [Process] leads a process group of its own, so that what it starts ends
// with it: the group is ended when its leader exits and when Close gives up on
// it. While it runs it is noted in a file; [EndLeftovers] ends the groups that
// a killed gateway has left behind. A process id alone is never trusted: the
// note holds the boot and the start time too.
package procio
