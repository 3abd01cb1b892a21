// Package eventlog keeps the records of every session, in order.
//
// A [Store] is where records live. A [Log] is what the rest of the program uses: a
// Store that wakes its readers. A reader reads the store after its position, and an
// append only wakes the reader. So there is no seam between history and live to get
// wrong: take the channel, then read, then wait. [Log.Follow] does just that,
// [Log.FollowDurable] for readers that need no ephemeral records. [Log.Watch] is for
// readers that wait for several things at once.
//
// When Append returns, every reader that looks afterwards sees the records. A batch
// lands as a prefix: a reader may see its beginning before its end, never the
// reverse. Records of one session have growing sequence numbers, with gaps; those of
// one batch follow each other without a gap.
//
// Durable records are kept. Ephemeral ones (trace.Ephemeral) may be dropped once
// their turn has been over for a while. A reader that finds them gone gets the
// durable records, which hold the same text.
//
// # Ownership
//
// A Store belongs to one Log, and all appends and deletes go through that Log. The store
// keeps the newest records of busy sessions in memory, so that live readers seldom reach
// its database. That memory is bounded per session and in all. Readers share records: the
// caller of Append and the readers change no payload afterwards.
package eventlog
