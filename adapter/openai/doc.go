// Package openai is an agent that lives in the gateway: any model behind an
// OpenAI-compatible endpoint. The model has tools for the workspace, tools of MCP servers,
// and tools of a program that uses this package.
//
// The package speaks to the endpoint by Chat Completions or by Responses. Servers write both
// in many forms, so the package reads loosely, and everything that a server sends is bounded. Package toolloop is the loop around the model; the gateway alone keeps the
// conversation.
package openai
