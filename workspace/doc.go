// Package workspace is a directory that cannot be left: what an agent reads and
// writes through the gateway, and what a permission policy calls "inside".
//
// There is one escape rule. A path is inside when it is the workspace or, step
// by step, below it: relative, or absolute and beginning with the workspace's
// own path; never above it on the way, as it is written or as symlinks lead; and
// through no absolute symlink, wherever that points. os.Root enforces it at the
// moment of use. Whatever breaks it is [ErrOutside]; other errors are those of
// the file system. What is mounted or hard-linked into the workspace is inside.
//
// Paths are read as the file system reads them: after a symlink, ".." is the
// parent of its target. Nothing here tidies "link/../x" into "x", since the agent
// itself would open another file.
package workspace
