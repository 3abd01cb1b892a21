// Package wire holds the frames of Agent Ops, which was later named Valet: a
// session agent to which browsers and a runner connect by WebSocket. Clients of a session agent
// and a gateway in the place of a session agent share the package.
//
// There are four [Direction]s. [Decode] turns a frame into one of the types of this package,
// [Encode] turns one into a frame. The table of [Events] has every type of frame that was ever sent.
// Only a new type becomes [Unknown]. A known type without a Go type becomes [Other].
//
// Decode is lenient. Unknown fields are ignored. A field of the wrong shape counts as absent, except
// for the few fields without which the frame has no meaning: then Decode returns one [FieldError].
// The next frame is not affected.
package wire
