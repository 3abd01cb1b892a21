package agentops

import (
	"encoding/json"

	wire "github.com/tributary-dev/tributary/agentops"

	"github.com/tributary-dev/tributary/agent"
)

// mark is where a conversation stands upstream: what the resume token holds.
type mark struct {
	// Thread is the thread of prompts that name no channel.
	Thread string `json:"thread,omitempty"`
	// Prompt is the upstream's id of the newest prompt of ours, and Channel where it
	// was put.
	Prompt string `json:"prompt,omitempty"`
	// Turn is its turn here.
	Turn    string `json:"turn,omitempty"`
	Channel string `json:"channel,omitempty"`
	// Since is when it was said there, in seconds.
	Since wire.Stamp `json:"since,omitempty"`
}

func parseToken(token string) mark {
	var m mark
	if json.Unmarshal([]byte(token), &m) != nil {
		return mark{}
	}
	return m
}

func (m mark) token() string {
	data, err := json.Marshal(m)
	if err != nil || m == (mark{}) {
		return ""
	}
	return string(data)
}

// callers are those who have prompted or answered, the newest last, by their names
// here. They answer in their own name.
type callers []struct {
	by     string
	caller agent.Caller
}

// mostCallers bounds how many are remembered.
const mostCallers = 64

func (c *callers) add(by string, caller agent.Caller) {
	caller.Traceparent = "" // of that one request
	for i, k := range *c {
		if k.by == by {
			(*c)[i].caller = caller
			return
		}
	}
	if len(*c) >= mostCallers {
		*c = append((*c)[:0], (*c)[1:]...)
	}
	*c = append(*c, struct {
		by     string
		caller agent.Caller
	}{by, caller})
}

// of returns the caller of that name, if there is one.
func (c callers) of(by string) (caller agent.Caller, known bool) {
	for _, k := range c {
		if k.by == by {
			return k.caller, true
		}
	}
	return agent.Caller{}, false
}
