package scriptedmodel

import (
	"regexp"
	"slices"
	"strings"
)

// Role says who spoke a [Turn].
type Role string

// The roles that scripts tell apart; wires map their own names to these.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // carries results only
)

// Conversation is what a script needs to know of a request, whatever the wire.
type Conversation struct {
	Turns []Turn
	Tools []Tool
}

// Turn is one message of a conversation.
type Turn struct {
	Role    Role
	Text    string
	Calls   int      // tool calls that an assistant made in it
	Results []string // what tools answered in it
}

// Tool is a tool that the agent offers.
type Tool struct {
	Name       string
	Properties map[string]string // property of its input → JSON type
	Items      map[string]Tool   // property that is a list of objects → what they hold
	Freeform   bool              // its input is text, not JSON
}

// reminder matches the notes that agents slip into the user's messages.
var reminder = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)

// prompts returns what the user typed before the newest directive, oldest first.
func (c Conversation) prompts() []string {
	_, at := c.directive()
	var out []string
	for i, t := range c.Turns {
		if i >= at || t.Role != RoleUser {
			continue
		}
		if text := strings.TrimSpace(reminder.ReplaceAllString(t.Text, "")); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// results returns the results of the newest turn that holds some.
func (c Conversation) results() []string {
	for _, t := range slices.Backward(c.Turns) {
		if len(t.Results) > 0 {
			return t.Results
		}
	}
	return nil
}

func (c Conversation) tool(names ...string) (Tool, bool) {
	for _, name := range names {
		for _, t := range c.Tools {
			if t.Name == name {
				return t, true
			}
		}
	}
	return Tool{}, false
}

// property returns the first of the names that the tool's input knows.
func (t Tool) property(names ...string) string {
	for _, name := range names {
		if _, ok := t.Properties[name]; ok {
			return name
		}
	}
	return names[0]
}
