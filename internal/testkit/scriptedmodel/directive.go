package scriptedmodel

import (
	"slices"
	"strings"
)

const opening = "[[script:"

// Directive is what the user asked the model to play.
type Directive struct {
	Name string `json:"name"`
	Arg  string `json:"arg,omitempty"`
}

// ParseDirective returns the last directive in a text. A directive ends at the last "]]" of its line,
// so that an argument may hold brackets, or a directive for another model.
func ParseDirective(text string) (Directive, bool) {
	var d Directive
	found := false
	for line := range strings.Lines(text) {
		_, rest, ok := strings.Cut(line, opening)
		end := strings.LastIndex(rest, "]]")
		if !ok || end < 0 {
			continue
		}
		name, arg, _ := strings.Cut(strings.TrimSpace(rest[:end]), " ")
		d, found = Directive{Name: name, Arg: strings.TrimSpace(arg)}, true
	}
	return d, found
}

// directive returns the newest directive and the index of its turn; a
// conversation without one has the zero Directive, as if it stood in the last turn.
func (c Conversation) directive() (Directive, int) {
	for i, t := range slices.Backward(c.Turns) {
		if t.Role != RoleUser {
			continue
		}
		if d, ok := ParseDirective(t.Text); ok {
			return d, i
		}
	}
	return Directive{}, len(c.Turns) - 1
}

// Due returns the newest directive and how many answers with tool calls have
// followed it.
func (c Conversation) Due() (d Directive, step int) {
	d, at := c.directive()
	for _, t := range c.Turns[at+1:] {
		if t.Calls > 0 {
			step++
		}
	}
	return d, step
}
