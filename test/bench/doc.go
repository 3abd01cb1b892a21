// Command bench measures the gateway against two other servers in one run: a Node.js server with
// the AI SDK (peer/server.mjs), and a Go server that only writes server-sent events (raw.go). The
// gateway runs three times: as it is, with --fsync off, and with its log in PostgreSQL.
//
// All servers are processes of their own. They get the same requests from the same client in turns,
// so that a busy machine slows all of them alike. The result is the median of the ratios, or of the
// differences, of two figures of the same round. The CPU time and the memory of a server come from
// /proc, so bench runs on Linux only. docs/internals/benchmarks.md explains the figures.
package main
