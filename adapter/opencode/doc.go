// Package opencode runs OpenCode, or Kilo, as an agent: over HTTP and an event stream,
// on a server that it starts or one that runs already.
//
// A [Decoder] reads what a client sends and what the server answers and streams. The
// session of a [Runtime] sends prompts, reads the stream, and after each break of the
// stream reads back what was missed.
//
// A started server belongs to one session, so that an "always" of one session holds for
// no other. Everything that the agent does is asked about, and the gateway's policy
// decides first.
package opencode
