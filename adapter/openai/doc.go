// Package openai is an agent that lives in the gateway: any model behind an
// OpenAI-compatible endpoint, with tools for the workspace and those of MCP servers.
//
// The endpoint is spoken to with OpenAI's own Go SDK, by Chat Completions or by
// Responses. The loop around the model is package toolloop; the conversation is kept by
// the gateway alone.
package openai
