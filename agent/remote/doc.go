// Package remote is the session of an agent that lives on a server and works in runs:
// a request begins a run, and the answer to it is a stream of events.
//
// An adapter implements [Protocol]: a Decoder, the request of a prompt, the request that
// ends a run, and what to do when a stream ends before its turn. A [Session] does the
// others' common work. It
//
//   - sends requests with the caller's own token where the server wants that;
//   - reads each stream to its end, and opens it again, later each time, where the protocol
//     can go on with a run;
//   - delivers a stop that did not reach the server before the next prompt;
//   - leaves a turn to the server when the gateway stops, and takes the turn up again
//     ([Reattacher]);
//   - waits for nothing without a limit.
//
// A turn may take several runs. An agent that ends its run to ask something is such a case:
// the answers are notes for the Decoder ([Note]), and the last of them makes the Decoder
// send the next run as an effect.
package remote
