package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent/toolloop"
)

// callPart is a piece of a call in a stream of Chat Completions.
type callPart struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// arguments are a text; some servers send the object itself.
type arguments string

// UnmarshalJSON implements json.Unmarshaler.
func (a *arguments) UnmarshalJSON(raw []byte) error {
	var text string
	switch {
	case json.Unmarshal(raw, &text) == nil: // null, too
		*a = arguments(text)
	default:
		*a = arguments(raw)
	}
	return nil
}

// growing is a call that is being written.
type growing struct {
	index    int
	serverID string
	toolloop.Call
	begun bool
}

// chatCalls puts the pieces of calls together. Some servers send no ids, or index 0 for
// every call.
type chatCalls struct {
	s   *speech
	all []*growing
}

func (c *chatCalls) add(p callPart) {
	g := c.latest(p.Index)
	if g == nil || g.other(p) {
		g = &growing{index: p.Index}
		c.all = append(c.all, g)
	}
	if g.serverID == "" {
		g.serverID = p.ID
	}
	if g.Name == "" {
		g.Name = p.Function.Name
	}
	g.Input = append(g.Input, p.Function.Arguments...)
	if g.Name == "" {
		return
	}
	delta := string(p.Function.Arguments)
	if !g.begun {
		g.begun, g.ID, delta = true, c.id(g), string(g.Input)
		c.s.call(g.ID, g.Name)
	}
	if delta != "" {
		c.s.b.ToolCallDelta(g.ID, delta)
	}
}

func (c *chatCalls) latest(index int) *growing {
	for _, g := range slices.Backward(c.all) {
		if g.index == index {
			return g
		}
	}
	return nil
}

// other reports whether a piece begins another call.
func (g *growing) other(p callPart) bool {
	switch {
	case p.ID != "" && g.serverID != "":
		return p.ID != g.serverID
	case p.Function.Name == "" || g.Name == "":
		return false
	default:
		return p.Function.Name != g.Name || json.Valid(bytes.TrimSpace(g.Input))
	}
}

// id is the server's id of a call, if no other call has it.
func (c *chatCalls) id(g *growing) string {
	unique := g.serverID != ""
	for _, other := range c.all {
		unique = unique && (other == g || other.ID != g.serverID)
	}
	if unique {
		return g.serverID
	}
	return fmt.Sprintf("call_%s_%d_%d", c.s.b.Turn(), c.s.step, len(c.all))
}

func (c *chatCalls) end() (calls []toolloop.Call) {
	for _, g := range c.all {
		if g.begun {
			calls = append(calls, g.Call)
		}
	}
	return calls
}
