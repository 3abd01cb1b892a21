// Package eventlog keeps what happened, for every session, in order.
//
// A [Store] is where records live; [Log] is what the rest of the program uses:
// a Store plus waking. Readers read the store after their mark and an append
// only wakes them, so there is no seam between history and live to get wrong:
// take the wake-up channel, then read, then wait. [Log.Follow] does just that,
// [Log.FollowWholes] for those who need no provisional records; [Log.Watch] is for
// those who wait for several things at once.
//
// What Append has returned is on record and is seen by every reader that looks
// afterwards. A batch lands as a prefix: a reader may see its beginning before
// its end, never the reverse. Records of one session have growing sequence
// numbers, with gaps; those of one batch follow each other without a gap.
//
// Whole records are kept; provisional ones (trace.Provisional) may be dropped
// once their turn has been over for a while. A reader that finds them gone gets
// the wholes, which say the same.
//
// # Who may do what
//
// A Store belongs to one Log, and all appends and deletes go through it. The
// Log keeps the newest records of busy sessions in memory, so that live readers
// seldom reach the store; that memory is bounded per session and in all.
// Records are shared between readers: nobody changes a payload after handing it
// to Append or getting it from a read.
package eventlog
