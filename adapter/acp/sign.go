package acp

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/trace"
)

// Signs show that the call of the model has failed, for agents that report such a turn
// as completed. The zero value has none.
type Signs struct {
	// Error begins the piece of text in which the agent writes an error. The piece counts
	// if nothing follows it in the turn, and if it stands apart from the text before it.
	Error string
	// Silence says that a turn has failed in which the agent has shown nothing at all.
	Silence bool
	// Uncounted says that a turn has failed whose reply counts no token, once another
	// reply of the session has counted some.
	Uncounted bool
}

// marks reports whether a piece of text may be an error of the agent's. Inside a text
// of the model, the agent puts its error behind the last letter without a space, where
// the model would not.
func (g Signs) marks(s *speaker, message, body string) bool {
	if g.Error == "" || !strings.HasPrefix(body, g.Error) {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(s.said[false].text)
	return s.key == "" || s.thought || s.message != message || !unicode.IsSpace(last)
}

// recognize looks for signs of a failure at the end of a turn that the agent reports
// as completed.
func (d *Decoder) recognize(c *turn, beside meta, end trace.Stop) trace.Stop {
	tokens := beside.Quota.Count.Input + beside.Quota.Count.Output
	uncounted := d.o.Signs.Uncounted && d.counted && tokens == 0
	d.counted = d.counted || tokens > 0
	failed := func(problem string) trace.Stop {
		return d.failure(jsonrpc.Error{Message: problem})
	}
	switch {
	case c.held != nil && (c.held.marked || c.broken): // Codex is broken
		text := strings.TrimSpace(c.held.text)
		c.held = nil
		return failed(text)
	case c.command, c.own:
	case uncounted:
		return failed("The agent ended its turn early: its call of the model failed, and the agent does not say why")
	case d.o.Signs.Silence && c.silent():
		return failed("The agent ended its turn without an answer: its call of the model failed, and the agent does not say why")
	}
	return end
}

// isCommand reports whether a prompt is a command of the agent's, which may show nothing.
func isCommand(m trace.UserMessage) bool {
	return len(m.Parts) > 0 && strings.HasPrefix(strings.TrimSpace(m.Parts[0].Text), "/")
}
