package agenttest

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/trace"
)

// part is a text or a piece of reasoning.
type part struct {
	thought bool
	sub     bool
	open    bool
	text    strings.Builder
}

// text checks the parts of a message.
func (g *grammar) text(e trace.Event) error {
	switch p := e.Payload.(type) {
	case trace.MessageStart:
		return g.openPart(e, p.Part, false)
	case trace.ThoughtStart:
		return g.openPart(e, p.Part, true)
	case trace.MessageDelta:
		return g.growPart(p.Part, p.Delta, false)
	case trace.ThoughtDelta:
		return g.growPart(p.Part, p.Delta, true)
	case trace.Message:
		return g.closePart(p.Part, p.Text, p.Superseded, false)
	case trace.Thought:
		return g.closePart(p.Part, p.Text, p.Superseded, true)
	}
	return nil
}

func (g *grammar) openPart(e trace.Event, id string, thought bool) error {
	if id == "" || g.parts[id] != nil {
		return fmt.Errorf("part %q is empty or was used before", id)
	}
	_, sub := e.Actor.SubagentCall()
	g.parts[id] = &part{thought: thought, sub: sub, open: true}
	return g.visible(e)
}

func (g *grammar) growPart(id, delta string, thought bool) error {
	p := g.parts[id]
	if p == nil || !p.open || p.thought != thought {
		return fmt.Errorf("part %q is not open", id)
	}
	if delta == "" || !utf8.ValidString(delta) {
		return fmt.Errorf("the delta %q is empty or not UTF-8", delta)
	}
	p.text.WriteString(delta)
	return nil
}

func (g *grammar) closePart(id, text string, superseded, thought bool) error {
	p := g.parts[id]
	if p == nil || p.thought != thought {
		return fmt.Errorf("part %q did not begin", id)
	}
	if !p.open && !superseded {
		return fmt.Errorf("part %q has ended", id)
	}
	if said := p.text.String(); said != text {
		return fmt.Errorf("part %q is %q but its deltas were %q", id, text, said)
	}
	p.open = false
	return nil
}

func validJSON(what string, value json.RawMessage) error {
	if !json.Valid(value) {
		return fmt.Errorf("the %s %q is not JSON", what, value)
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
