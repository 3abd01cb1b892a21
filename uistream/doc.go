// Package uistream speaks the AI SDK's UI message stream. It turns the records of
// one turn into chunks, and chunks into server-sent events. It turns sessions into
// the plain messages that the same client shows after a reload.
//
// The way of one record is [Translator] → [Chunk] → [AppendChunk] → [Writer]. A
// Translator is pure and prefix-stable: the chunks of the first n records are the
// first chunks of all records, for every reader at every time. So a resumed stream
// is the same as an uncut one.
//
// # Which client
//
// A request does not say which release of the client sent it, and a type or
// key that the release does not know ends its turn. [Profile] says what may be
// sent; one table of types and fields, each with the release since which it is
// known, decides. The zero Profile is safe for every release since 5.0.0,
// apart from approvals, which exist since 6.0.0.
//
// # One stream is one assistant message
//
// A client puts everything of one response into one message. A turn whose agent
// takes a message in between has several replies, and so several streams. At the
// start of a second reply, the chunks hold the finish of the message before and
// then a new start. A pause ends the response of the subscribers (see
// [Translator.Paused]) but not the message: the answering client gets the rest, and
// a reload gets the whole message without the seam.
//
// # Subscribers
//
// [Streams] let any number of clients read a turn as it happens. Each subscriber has a position in the log. An append
// wakes it; it reads the records behind its position, translates them, and writes the frames to its client. A subscriber
// that falls behind reads on where it is, and holds nobody up.
package uistream
