// Package jsonrpc is one end of a JSON-RPC 2.0 connection, in both directions.
//
// A [Conn] does no I/O of its own. Its owner hands every incoming message to
// [Conn.Take], and the Conn sends through the function that [New] got. Calls in
// flight and running handlers are bounded, and [Conn.Close] ends all of them.
package jsonrpc
