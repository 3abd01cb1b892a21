// Package uiendpoint is an agent behind an address that speaks the AI SDK's UI message stream:
// a route such as /api/chat of a Next.js app, or the like of another framework.
//
// Each run is a POST with the whole conversation, and its answer is the stream. The
// conversation is read from the log. An approval, or a call of a tool that the app itself
// answers, ends a run; the answers begin the next run of the same turn. What the trace has no
// word for goes on record as package uistream says (Beyond), so that clients and the
// endpoint get back what the endpoint has said.
package uiendpoint
