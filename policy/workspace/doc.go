// Package workspace is a directory that cannot be left: what an agent reads and
// writes through the gateway, and what a permission policy calls "inside".
//
// There is one escape rule. A path is inside when it is the workspace or, step by
// step, below it. The path is relative, or absolute and begins with the workspace's
// own path. The path is never above the workspace on the way, neither as written
// nor where symlinks lead. The path uses no absolute symlink, wherever that points.
// os.Root enforces the rule at the moment of use. A path that breaks the rule gives
// [ErrOutside]; other errors are those of the file system.
//
// A mount in the workspace is inside, and so is a hard link: the link is the file,
// and nothing distinguishes it from the file's other names. The rule is safe where
// an agent cannot make the link. A hard link needs the same file system, and Linux
// lets only the owner of a file make one (fs.protected_hardlinks). An agent that
// runs commands as the owner can read the file without a link.
//
// A file or a subtree can be denied ([Deny]), so that it is outside although it is below
// the workspace, and so are its hard links. Every operation has a time limit ([Patience]), so that a mount whose
// server is gone blocks no turn; what takes longer is [ErrSlow].
//
// Paths are read as the file system reads them: after a symlink, ".." is the
// parent of its target. Nothing here tidies "link/../x" into "x", since the agent
// itself would open another file.
package workspace
