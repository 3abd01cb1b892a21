// Package openharness connects flows of Open Harness, and workflows of its successor Open
// Scaffold.
//
// The servers of the project speak three languages: events of the kernel by WebSocket, chunks
// for the AI SDK by the HTTP server of version 0.2, and the event log of Open Scaffold. One
// [Decoder] reads them all. Several nodes may run at a time, so the Decoder keeps the
// texts of each run apart. A flow that is paused, and a workflow that wants input, make the
// turn wait for a person.
package openharness
