// Package agentops holds the frames of Agent Ops, which was later named Valet: a
// session agent to which browsers and a runner connect by WebSocket. It is shared
// by whoever speaks to such a session agent and by whoever stands where it stands.
//
// There are four [Direction]s. [Decode] turns a frame into one of the types of this package,
// [Encode] turns one into a frame. Every type of frame that was ever sent is in the
// table of [Events], so that only a truly new one becomes [Unknown]; one that this
// package knows and has no type of its own for becomes [Other].
//
// Decode asks for no more than it must: fields that it does not know are left
// alone, and a field of the wrong shape counts as absent, except for the few
// without which the frame means nothing. Then there is one [FieldError], and the
// next frame is as good as ever.
package agentops
