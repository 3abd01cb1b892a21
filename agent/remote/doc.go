// Package remote is the session of an agent that lives on a server. Most such agents work in runs:
// a request begins a run, and the response is a stream of events.
//
// An adapter implements [Protocol]: a Decoder, the request of a prompt, the request that
// ends a run, and what to do when a stream ends before its turn. A [Session] does the common work:
//
//   - Requests have the caller's own token where the server wants that.
//   - Each stream is read to its end, and opened again, later each time, where the protocol can go
//     on with a run.
//   - A stop that did not reach the server is delivered before the next prompt.
//   - A turn stays on the server when the gateway stops, and is re-attached later ([Reattacher]).
//   - Every wait has a limit.
//
// A turn may take several runs: an agent may end its run to ask people something. The Decoder
// of such an agent embeds an [Asking]. The Decoder asks by Permissions and Questions, at any
// time of the run. Once the run is over and all is answered, the Asking calls Next, which
// encodes the request of the next run. After a restart of the gateway, the Decoder asks the
// same again. The Asking puts no request on record a second time, and keeps the answers that are
// on record.
//
// A server with a [Feed] has one stream for all turns instead, and a prompt is a call. The Session
// starts the server, or uses one that runs already ([Server]). It opens a broken stream again, and
// reads the events that the stream has missed. An adapter of such an agent implements [Follower].
package remote
