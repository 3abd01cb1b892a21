// Package codex is OpenAI's Codex as an agent: one `codex app-server` process for each
// session, which speaks JSON-RPC without the field "jsonrpc", one message a line.
//
// Decoder is the pure half. It reads both directions of the app-server, and the lines
// of `codex exec --json`. Runtime starts the process.
package codex
