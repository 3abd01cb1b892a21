package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// update takes news of the session. What belongs to a turn is dropped outside any: it
// is the past that a loaded session tells, or comes too late.
func (d *Decoder) update(params raw, t agent.Turns) error {
	var p struct {
		Session string `json:"sessionId"`
		Update  update `json:"update"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	if d.session != "" && p.Session != "" && p.Session != d.session {
		d.touch(t) // a session that is not ours
		return nil
	}
	u := p.Update
	if d.note(u, t) {
		return nil
	}
	c := d.current(t)
	if c == nil {
		return nil
	}
	s := c.speaker(u.Meta)
	switch u.Kind {
	case "agent_message_chunk", "agent_thought_chunk":
		return d.chunk(c, s, u, t)
	case "tool_call", "tool_call_update":
		c.release("")
		s.end()
		d.toolUpdate(c, s, u)
	case "plan":
		plan := trace.Plan{Entries: []trace.PlanEntry{}}
		for _, e := range u.Entries {
			plan.Entries = append(plan.Entries, trace.PlanEntry{Content: string(e.Content), Status: e.Status})
		}
		c.shown = true
		s.b.Emit(plan)
	case "usage_update":
		c.usageUpdate(u)
	default:
		c.b.Touch() // among them user_message_chunk, which repeats the prompt
	}
	return nil
}

func (c *turn) usageUpdate(u update) {
	c.b.Touch()
	if u.Used != nil && *u.Used > 0 {
		c.context = &trace.Usage{Scope: trace.UsageSession, ContextUsed: *u.Used, ContextSize: u.Size}
	}
	if u.Cost != nil && strings.EqualFold(u.Cost.Currency, "usd") && u.Cost.Amount > 0 {
		c.cost = &u.Cost.Amount
	}
}

// speaker is the agent or a sub-agent in a turn.
type speaker struct {
	c       *turn
	b       *trace.Builder
	thought bool
	message string // the agent's id of the open part's message
	key     string // of the open part, or ""
	said    map[bool]said
}

// said is the newest part of a kind since the last call.
type said struct{ key, text string }

func (c *turn) speaker(m meta) *speaker {
	parent := cmp.Or(m.Claude.Parent, m.Parent)
	if parent != "" && c.calls[parent] == nil {
		parent = "" // the call has not been seen
	}
	s := c.speakers[parent]
	if s == nil {
		s = &speaker{c: c, b: c.b, said: map[bool]said{}}
		if parent != "" {
			s.b = c.b.Under(parent)
		}
		c.speakers[parent] = s
	}
	return s
}

// failureText reports whether a text that begins a message may be the error with which
// the turn ends: Claude Code and Codex write their errors as messages, too.
func (c *turn) failureText(s *speaker, message, body string) bool {
	begins := s.key == "" || s.thought || s.message != message
	return begins && (strings.HasPrefix(body, "API Error") || c.broken && message == "")
}

// held is a text that may turn out to be the error with which the turn ends.
type held struct {
	s      *speaker
	id     string
	text   string
	marked bool // by the agent's sign
}

// release shows the held text unless it is the error.
func (c *turn) release(failure string) {
	h := c.held
	c.held = nil
	if h != nil && (failure == "" || !strings.Contains(failure, strings.TrimSpace(strings.TrimSuffix(h.text, ".")))) {
		h.s.write(false, h.id, h.text)
	}
}

// modeMark begins the message by which Gemini CLI says that its mode has changed.
const modeMark = "[MODE_UPDATE] "

// chunk takes a piece of text, or a file that the agent shows.
func (d *Decoder) chunk(c *turn, s *speaker, u update, t agent.Turns) error {
	var b block
	if err := decodeInto(u.Content, &b); err != nil {
		return err
	}
	c.release("")
	thought := u.Kind == "agent_thought_chunk"
	body := string(b.Text)
	switch {
	case b.Type == "resource" && b.Resource.Text != nil:
		body = string(*b.Resource.Text)
	case b.Type != "text":
		if at, media, name := b.file(); at != "" {
			c.shown = true
			s.b.Emit(trace.File{URL: at, MediaType: cmp.Or(media, "application/octet-stream"), Filename: name})
		}
		return nil
	}
	mode, switched := strings.CutPrefix(body, modeMark)
	switch {
	case body == "":
		c.b.Touch()
	case switched && !thought && word.MatchString(mode):
		t.Note(trace.CurrentMode(mode))
	case !thought && d.o.Signs.marks(s, u.MessageID, body):
		c.held = &held{s: s, id: u.MessageID, text: body, marked: true}
		c.b.Touch()
	case !thought && c.failureText(s, u.MessageID, body):
		c.held = &held{s: s, id: u.MessageID, text: body}
		c.b.Touch()
	default:
		s.write(thought, u.MessageID, body)
	}
	return nil
}

// heading is the subject that some agents put before each thought; it may be empty.
var heading = regexp.MustCompile(`^\*\*([^*\n]*)\*\*\n`) //nolint:gochecknoglobals // compiled once

// write adds text to the part that is open, or opens another one.
func (s *speaker) write(thought bool, message, text string) {
	begins := s.key == "" || s.thought != thought || s.message != message
	if m := heading.FindStringSubmatch(text); thought && m != nil {
		between := "\n\n"
		if m[1] == "" {
			text, between = text[len(m[0]):], " "
		}
		if !begins {
			text = between + text
		}
	}
	if begins {
		s.end()
		s.c.parts++
		s.thought, s.message, s.key = thought, message, fmt.Sprintf("part-%d", s.c.parts)
		s.again(text)
	}
	was := s.said[thought]
	s.said[thought] = said{s.key, was.text + text}
	if thought {
		s.b.ThoughtDelta(s.key, text)
	} else {
		s.b.MessageDelta(s.key, text)
	}
}

// leastRepeated is how long a beginning is that makes a part a retry of the one before:
// agents that try a model call again repeat what they have said.
const leastRepeated = 8

func (s *speaker) again(text string) {
	before := s.said[s.thought]
	s.said[s.thought] = said{}
	if before.key == "" || len(text) < leastRepeated || len(text) >= len(before.text) || !strings.HasPrefix(before.text, text) {
		return
	}
	if s.thought {
		s.b.ThoughtRepeats(s.key, before.key)
	} else {
		s.b.MessageRepeats(s.key, before.key)
	}
}

// end ends the open part.
func (s *speaker) end() {
	switch {
	case s.key == "":
	case s.thought:
		s.b.ThoughtEnd(s.key, "")
	default:
		s.b.MessageEnd(s.key)
	}
	s.key = ""
}
