// Package natslog is an eventlog.Store on NATS JetStream: embedded in the process
// (no port, a data directory) or an external server, by the same code.
//
// # What lies where
//
// Session ids never go into a subject or a key; their hash does (see key).
//
//	stream  NAME_wholes       NAME.w.HASH     whole records, kept
//	                          NAME.w.HASH.x   index of them
//	stream  NAME_provisional  NAME.p.HASH     provisional records, dropped by age
//	                          NAME.p.HASH.x   index of them
//	bucket  NAME_sessions     HASH            the registry
//	bucket  NAME_notes        HASH            what was acknowledged, for the check at start
//	                          epoch, clean
//	bucket  NAME_lease        gateway         who uses an external NATS
//
// A message is a line of JSON that says which records follow, then the records,
// one line of trace JSON each, so that the nats command shows them readably. All
// records of an append that are of one class go into one message; a larger one
// is split, and joined by the reader. A message names the one before it in its
// session, so a lost one is noticed.
//
// Every 128 messages of a session a message of its own lists where they are.
// Readers find a range through these lists, newest first, and get the messages
// by their place in the stream, many under way at a time. Nothing searches by
// subject but the opening of a session, and that over at most 128 messages. The
// lists also say which prompts, replies and rewinds are among the records, so that
// what messages a session has is known without reading it. Where a list does not
// say it, because an older version wrote it, the records are read.
//
// # Numbers
//
// The process that holds the store counts a session's records by itself. When a
// session is opened, the count is restored: the highest number in either stream
// or in the notes. Readers see records up to the last acknowledged append.
//
// # Damage
//
// NATS keeps a checksum with every message and doesn't hand out one that fails
// it. A message that is listed and not there, or doesn't fit what comes before
// it, makes the session damaged: the read that finds it ends with an error, and
// from then on Damaged names the session and reads step over the gap. At start
// each session's count of messages is compared with what was noted. Loss beyond
// the notes, at most noteEvery old, can't be told from never having been written.
package natslog
