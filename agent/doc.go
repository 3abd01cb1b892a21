// Package agent is the seam between Tributary and the agents: what an adapter
// implements, and what it may ask of the session that runs it.
//
// An adapter is two halves. A [Decoder] is pure: it turns the agent's own
// messages into calls of a trace.Builder, and is what `tributary convert` and
// the golden tests run. A [Runtime] opens a [Session] on a process or a socket
// and feeds what arrives to the Decoder.
//
// A turn that failed is a stop record (trace.Builder.End); a Go error from
// Prompt means "we could not talk to the agent", and becomes a failed stop too.
//
// Failures on the way that are no part of a turn are counted: Config.Meter takes a
// [Count], and a Decoder's [ErrUnknownEvent] through [Meter.Decoded].
//
// Abilities that only some agents have are interfaces of their own, found by
// assertion: [Prober], [Lister], [Rewinder] and [Reattacher] on the Runtime,
// [Controllable] on the Session.
package agent
