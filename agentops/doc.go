// Package agentops holds the frames of Agent Ops, which was later named Valet: a
// session agent to which browsers and a runner connect by WebSocket. Clients of a session agent
// and a gateway in the place of a session agent share the package.
//
// There are four [Direction]s. [Decode] turns a frame into one of the types of this package,
// [Encode] turns one into a frame. The table of [Events] has every type of frame that was ever sent.
// Only a new type becomes [Unknown]. A known type without a Go type becomes [Other].
//
// Decode asks for no more than it must: fields that it does not know are left
// alone, and a field of the wrong shape counts as absent, except for the few
// without which the frame means nothing. Then there is one [FieldError], and the
// next frame is as good as ever.
package agentops
