// Package acp runs agents that speak the Agent Client Protocol, version 1: JSON-RPC
// over standard input and output.
//
// A [Decoder] makes records of the messages of both directions. A [Runtime] runs a
// process for each session. Files and terminals that an agent asks for are confined to
// the workspace, and what changes anything is judged by the policy before it happens.
// Presets know how the agents that people use are started; any other agent runs by its
// command line.
package acp
