package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
)

// This file says which agent a session is with.

// AgentInfo says which agent a session is with, as the value of the data named agent. The
// gateway knows the first two fields, and the adapter learns the others from the agent. Empty
// fields are unknown.
type AgentInfo struct {
	// Name is the agent's name in the configuration, and Adapter that of its adapter.
	Name    string `json:"name"`
	Adapter string `json:"adapter"`
	// Product and Version are what the agent calls itself, such as claude-code 2.1.329.
	Product string `json:"product,omitempty"`
	Version string `json:"version,omitempty"`
	// Provider serves the model, such as anthropic. Model is the id of the model that the
	// agent uses now, never a word such as default.
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	// Tools are those that the model may call. The system prompt is not here, because all who may
	// read a session's trace would read it.
	Tools []ToolDefinition `json:"tools,omitempty"`
}

// ToolDefinition is a tool that a model may call. Many agents tell the name alone.
type ToolDefinition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
}

// Payload is the data with that value. An adapter notes it when the agent is ready, and again
// when something has changed, with the fields that the adapter knows; the gateway adds the others.
func (a AgentInfo) Payload() Payload { return world(dataAgent, a) }

// With is what is known after more was learned: a field that more leaves empty stays.
func (a AgentInfo) With(more AgentInfo) AgentInfo {
	a.Name, a.Adapter = cmp.Or(more.Name, a.Name), cmp.Or(more.Adapter, a.Adapter)
	a.Product, a.Version = cmp.Or(more.Product, a.Product), cmp.Or(more.Version, a.Version)
	a.Provider, a.Model = cmp.Or(more.Provider, a.Provider), cmp.Or(more.Model, a.Model)
	if len(more.Tools) > 0 {
		a.Tools = more.Tools
	}
	return a
}

// Equal reports whether both say the same.
func (a AgentInfo) Equal(b AgentInfo) bool {
	one, err := json.Marshal(a)
	other, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(one, other)
}

// Agent returns what the data says of the agent, if it is the data named agent.
func (d Data) Agent() (a AgentInfo, ok bool) { return ofWorld[AgentInfo](d, dataAgent) }
