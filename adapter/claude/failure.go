package claude

import (
	"cmp"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// failure is an error of the model's provider, as a message without a model tells it.
type failure struct {
	text   string
	word   string // the kind of error
	detail string // a narrower word, which most errors do not have
	status int    // of the provider's answer; 0 if there was none
}

// class is the kind of failure that ended a turn. The narrower of the agent's words counts before
// the wider, and the status of the provider's answer last.
func (r result) class(c *turn) trace.Class {
	class := cmp.Or(trace.ClassOfWord(r.APIError), trace.ClassOfWord(c.fault.detail), trace.ClassOfWord(r.TerminalReason))
	if text := strings.ToLower(string(r.Result) + " " + strings.Join(r.Errors, " ") + " " + c.fault.text); class == "" && strings.Contains(text, "prompt is too long") {
		return trace.ClassContext
	}
	return cmp.Or(class, trace.ClassOfWord(c.fault.word), trace.ClassOfStatus(max(r.Status, c.fault.status)))
}
