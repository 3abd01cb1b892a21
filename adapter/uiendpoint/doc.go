// Package uiendpoint is an agent behind an address that speaks the AI SDK's UI message
// stream, such as the route /api/chat of a Next.js app.
//
// Each run is a POST with the whole conversation, and its answer is the stream. The
// conversation is read from the log. An approval, or a call of a tool that the app itself
// answers, ends a run; the answers begin the next run of the same turn. The rest
// of a chunk, which the trace has no word for, goes on record by uistream.Beyond. Clients and
// the endpoint get it back.
package uiendpoint
