// Package worktool has the usual tools of an agent in this process: [Files] and [Shell]
// work inside the workspace.
package worktool
