// Package sqllog is the eventlog.Store that outlives the process: SQLite in the
// data directory, or PostgreSQL.
//
// # What is on record when
//
// A durable record is committed before Append returns and before any reader sees
// it. One goroutine writes for the whole process: it commits what has gathered, of
// all sessions, in one transaction.
//
// An ephemeral record gets its number in memory and is visible at once, unless a
// durable record before it is still being written. Its text is checkpointed behind:
// every 150 ms the table checkpoints gets one delta per open part with what the part grew
// by. The end of a part makes its checkpoints void, and the next checkpoint deletes them.
//
// Records of open turns stay in memory, within a bound. Beyond the bound the oldest
// deltas of a part become one, and only the texts of open parts are left. After a restart a
// part has the text of its checkpoints.
//
// # Ownership
//
// A store that writes to a session takes it: it becomes the owner under a new term.
// Each transaction checks the term of each session that it writes to. A store that
// has lost a session gets eventlog.ErrNotOwner for each turn that it had begun. A
// session that was taken from a store that crashed continues with a gap in its
// numbers, so that numbers of lost ephemeral records are not used again.
//
// On PostgreSQL a store owns its sessions while the lease in its row of the table gateways lasts. Others
// may find it dead before: when its advisory lock is free, and it has renewed nothing for a moment.
package sqllog
