// Package box closes files to the process of an agent, and to all that the process starts, by means
// of the kernel. A box needs no root, no daemon and no container.
//
// A box has a [Form]. [Guard] closes what the gateway must keep for itself, and leaves everything
// else as it is without a box. [Strict] opens only what is named.
//
// On Linux the process gets a user namespace and a mount namespace of its own. In the mount
// namespace something empty that nobody can write lies over each closed file and directory. The
// kernel locks these mounts for all further namespaces, so an agent's own sandbox works in the box and does
// not uncover them. The user namespace closes the memory, the environment and the open files of the
// gateway in /proc, because a process may look into another only within its own user namespace.
// Strict adds a list of Landlock, which the kernel keeps for all children.
//
// A [Rule] may also name a [User], as whom the process runs, with each form. Then the ids of the
// system close the gateway's files, whatever the namespaces do. That needs root, or CAP_SETUID,
// CAP_SETGID and CAP_KILL.
//
// A Go program cannot enter a user namespace by itself, because the program has several threads. So
// the gateway starts its own program, which sets up the box and becomes the agent: see [Enter].
package box
