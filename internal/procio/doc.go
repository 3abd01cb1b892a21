// Package procio runs an agent's process: lines in, lines out, and an end that
// is sure to come.
//
// A [Process] leads a process group of its own. The package ends the whole group when the
// leader exits, and when Close has waited long enough. A file notes each running process,
// and [EndLeftovers] ends the groups that a killed gateway has left behind. A process id
// alone is not enough, because the system uses ids again: the note also holds the boot and
// the start time.
package procio
