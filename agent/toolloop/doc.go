// Package toolloop runs an agent that lives in this process: a model that calls tools.
//
// An adapter brings a [Model], which makes one model call and writes the model's answer to
// the Builder. The loop does everything else. It offers the tools, asks for permission, and
// runs the calls of a step side by side. Each call gets exactly one result. The loop calls
// the model again until the model calls no more tools.
//
// The loop keeps no conversation of its own. [History] rebuilds the messages from the
// records of the gateway.
//
// [New] makes a tool of a Go function. Package worktool has the usual tools for the
// workspace, and package mcptool those of MCP servers.
package toolloop
