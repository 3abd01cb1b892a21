package agentops

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"

	"github.com/tributary-dev/tributary/agent/agentkit"
)

// mark is the place of a conversation upstream: the content of the resume token.
type mark struct {
	// Thread is the thread of prompts that name no channel.
	Thread string `json:"thread,omitempty"`
	// Prompt is the upstream's id of our newest prompt, Channel its channel, Turn its turn
	// here, and Since the time of its message there, in seconds.
	Prompt  string     `json:"prompt,omitempty"`
	Turn    string     `json:"turn,omitempty"`
	Channel string     `json:"channel,omitempty"`
	Since   wire.Stamp `json:"since,omitempty"`
}

func parseMark(token string) (m mark) {
	if json.Unmarshal([]byte(token), &m) != nil {
		return mark{}
	}
	return m
}

func (m mark) token() string { return string(agentkit.Encode(m)) }
