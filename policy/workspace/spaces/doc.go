// Package spaces makes directories to work in: copies of a directory, and git worktrees of it.
// Copy is for everybody who needs a copy of a directory tree. A Maker makes one workspace for each
// session, finds them again, and removes them without a loss that nobody was told of.
package spaces
