// Package openai is an agent that lives in the gateway: any model behind an
// OpenAI-compatible endpoint. The model has tools for the workspace, tools of MCP servers,
// and tools of a program that uses this package.
//
// The package speaks to the endpoint with OpenAI's own Go SDK, by Chat Completions or by
// Responses. Package toolloop is the loop around the model; the gateway alone keeps the
// conversation.
package openai
