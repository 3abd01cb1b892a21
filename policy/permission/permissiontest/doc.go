// Package permissiontest is a table of attacks on the permission policy. Each
// adapter plays the table through its own decoder, so that no agent's way of naming
// files or of asking for permission gets around the policy. For an adapter:
//
//  1. Write a [Dialect]: the agent's names of its tools and of their keys.
//  2. Make the workspace with [Workspace].
//  3. Give each turn's trace.Config the Judge that [Judge] returns.
//  4. Call [Play]. The function that Play is given shows one call, asks for
//     permission for one call, and reports whether the policy allowed it.
//
// See the test of adapter/claude for an example.
package permissiontest
