// Package agentops stands in the place of an Agent Ops session agent. Browsers of Agent Ops
// read a session by WebSocket and take part in it. A runner drives a session.
//
// The package knows the frames and the routes of Agent Ops. The gateway that mounts a
// [Server] decides who may do what, and how much, by the interface [Gateway].
package agentops
