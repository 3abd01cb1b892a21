// Command bench measures the gateway against two others in one run: the stream
// that a Node.js server makes with the AI SDK (peer/server.mjs), and a Go server
// that writes server-sent events and does nothing else (raw.go). The gateway runs
// three times: as it is, with --fsync off, and with its log in PostgreSQL.
//
// All are processes of their own and get the same requests from the same client,
// in turns, so that a busy machine hits all of them alike: what counts is the
// ratio or the difference of two figures of the same round, and of these the
// median. The CPU time and the memory of a server are read from /proc, so it
// runs on Linux only. docs/internals/benchmarks.md explains the figures.
package main
