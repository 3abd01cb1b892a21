package openai

import (
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

// speech writes the text and the reasoning of one model call, and keeps them.
type speech struct {
	b       *trace.Builder
	step    int
	parts   int
	open    bool
	thinks  bool // the open part is reasoning
	part    strings.Builder
	said    toolloop.Message
	spoken  bool // something is on record, so the call cannot be tried again
	refused bool
}

func (s *speech) key() string { return fmt.Sprintf("%d.%d", s.step, s.parts) }

func (s *speech) text(delta string)    { s.say(delta, false) }
func (s *speech) thought(delta string) { s.say(delta, true) }

func (s *speech) say(delta string, thinks bool) {
	if delta == "" {
		return
	}
	if s.open && s.thinks != thinks {
		s.endPart("")
	}
	if !s.open {
		s.parts++
		s.open, s.thinks, s.spoken = true, thinks, true
	}
	s.part.WriteString(delta)
	if thinks {
		s.b.ThoughtDelta(s.key(), delta)
	} else {
		s.b.MessageDelta(s.key(), delta)
	}
}

// endPart ends the open part. The signature is that of reasoning.
func (s *speech) endPart(signature string) {
	switch {
	case s.open && s.thinks:
		s.b.ThoughtEnd(s.key(), signature)
		s.said.Thoughts = append(s.said.Thoughts, toolloop.Thought{Text: s.part.String(), Signature: signature})
	case s.open:
		s.b.MessageEnd(s.key())
		s.said.Text += s.part.String()
	case signature != "": // reasoning that the endpoint keeps to itself
		s.parts++
		s.b.Thought(s.key(), "", signature)
		s.said.Thoughts = append(s.said.Thoughts, toolloop.Thought{Signature: signature})
	}
	s.open = false
	s.part.Reset()
}

// call begins a call.
func (s *speech) call(id, name string) {
	s.endPart("")
	s.spoken = true
	s.b.ToolCallStart(trace.ToolCallStart{ToolCallID: id, RawName: name})
}
