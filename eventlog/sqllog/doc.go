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
// the table checkpoints holds one delta per open part with the text so far, at most
// 250 ms old. A checkpoint is replaced in place; the end of its part or turn
// deletes it. Parts of more than 64 KB have one row for each 64 KB.
//
// Records of open turns stay in memory, within a bound. Beyond the bound the oldest
// deltas of a part become one. After a restart a part has its checkpoint.
//
// # Ownership
//
// A store that writes to a session takes it: it becomes the owner under a new term.
// Each transaction checks the term of each session that it writes to. A store that
// has lost a session gets eventlog.ErrNotOwner for each turn that it had begun. A
// session that was taken from a store that crashed continues with a gap in its
// numbers, so that numbers of lost ephemeral records are not used again.
package sqllog
