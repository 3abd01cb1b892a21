package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// mostEarly bounds the updates that wait for a turn, and mostEarlyBytes their sizes together.
const mostEarly, mostEarlyBytes = 1000, 1 << 20

// update takes news of the session.
func (d *Decoder) update(params raw, t agent.Turns) error {
	var p struct {
		Session string `json:"sessionId"`
		Update  update `json:"update"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	if d.session != "" && p.Session != "" && p.Session != d.session {
		return nil // a session that is not ours
	}
	if d.note(p.Update, t) {
		return nil
	}
	c := d.current(t)
	if c == nil {
		c = d.outside(p.Update, len(params), t)
	}
	if c == nil {
		return nil
	}
	return d.show(c, p.Update, t)
}

// outside returns the turn of an update that comes outside any: one of the agent's own,
// or nil if the update waits for the next turn or belongs to none. The result of a call that has none begins a turn,
// too. Other news of a call that has begun belong to the turn that is over.
func (d *Decoder) outside(u update, size int, t agent.Turns) *turn {
	says := slices.Contains([]string{"agent_message_chunk", "agent_thought_chunk", "tool_call", "plan"}, u.Kind)
	d.leave() // somebody else may have ended it
	switch {
	case (says || d.isLateResult(u)) && d.phase == prompted:
		return d.beginOwn(t)
	case (says && d.phase == fresh || u.Kind == "usage_update") && len(d.early) < mostEarly && d.earlyBytes+size <= mostEarlyBytes:
		d.early, d.earlyBytes = append(d.early, u), d.earlyBytes+size
	}
	return nil
}

// beginOwn begins a turn of the agent's own; nil if no turn can begin.
func (d *Decoder) beginOwn(t agent.Turns) *turn {
	c := d.enter(t.Begin(agent.TurnInfo{Reason: "agent"}), t)
	if c != nil {
		c.own = true
	}
	return c
}

// show puts an update on record.
func (d *Decoder) show(c *turn, u update, t agent.Turns) error {
	switch {
	case d.isLateResult(u) && c.calls[u.ID] == nil:
		d.lateResult(c, u)
		return nil
	case d.isLate(u) && c.calls[u.ID] == nil:
		return nil
	case u.Kind != "usage_update":
		c.updates++
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
		if model := parse[meta](u.Meta).Model; model != "" {
			d.told(c, model, t)
			c.measured()
		}
		c.contextUsed(u)
	}
	return nil
}

// contextUsed keeps the newest state of the context, and the costs.
func (c *turn) contextUsed(u update) {
	fresh := trace.Usage{Scope: trace.UsageSession}
	if c.context != nil {
		fresh = *c.context
	}
	if u.Used > 0 {
		fresh.ContextUsed, fresh.ContextSize = u.Used, u.Size
	}
	if strings.EqualFold(u.Cost.Currency, "usd") && u.Cost.Amount > 0 {
		fresh.CostUSD = &u.Cost.Amount
	}
	if fresh.ContextUsed > 0 {
		c.context = &fresh
	}
}

// note records news of the session that belong to no turn. It reports whether the
// update was such.
func (d *Decoder) note(u update, t agent.Turns) bool {
	switch u.Kind {
	case "available_commands_update":
		var all []trace.Command
		for _, c := range u.Commands.all() {
			if c.Name != "" {
				all = append(all, trace.Command{Name: c.Name, Description: short(c.Description), Hint: short(c.Input.Hint)})
			}
		}
		t.Note(trace.Commands(all))
	case "current_mode_update":
		t.Note(trace.CurrentMode(u.ModeID))
	case "config_option_update":
		d.configured(opened{Options: u.ConfigOptions}.options(), t)
	case "session_info_update":
		if c := d.current(t); c != nil && parse[meta](u.Meta).Codex.Status.Type == "systemError" {
			c.broken = true
		}
		if u.Title != "" {
			t.Note(trace.Title(string(u.Title)))
		}
	default:
		return false
	}
	return true
}

// shortRunes bounds a description: agents put whole manuals there.
const shortRunes = 200

func short(s string) string {
	s = s[:min(len(s), 4*shortRunes+4)]
	if r := []rune(s); len(r) > shortRunes {
		return strings.TrimSpace(string(r[:shortRunes])) + "…"
	}
	return s
}

// speaker is the agent or a sub-agent in a turn.
type speaker struct {
	c       *turn
	b       *trace.Builder
	thought bool
	message string // the agent's id of the open part's message
	key     string // of the open part, or ""
	said    map[bool]partText
}

// partText is the newest part of a kind since the last call.
type partText struct{ key, text string }

func (c *turn) speaker(beside raw) *speaker {
	m := parse[meta](beside)
	parent := cmp.Or(m.Claude.Parent, m.Parent)
	if parent != "" && c.calls[parent] == nil {
		parent = "" // the call has not been seen
	}
	s := c.speakers[parent]
	if s == nil {
		s = &speaker{c: c, b: c.b, said: map[bool]partText{}}
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
	if err := decode(u.Content, &b); err != nil {
		return err
	}
	c.release("")
	thought := u.Kind == "agent_thought_chunk"
	body := string(b.Text)
	switch {
	case b.Type == "resource" && b.Resource.Text != nil:
		body = string(*b.Resource.Text)
	case b.Type != "text":
		if file := b.part(); file.URL != "" {
			c.shown = true
			s.b.Emit(trace.File{URL: file.URL, MediaType: file.MediaType, Filename: file.Filename})
		}
		return nil
	}
	mode, switched := strings.CutPrefix(body, modeMark)
	switch {
	case body == "":
	case switched && !thought && wordLike.MatchString(mode):
		t.Note(trace.CurrentMode(mode))
	case !thought && d.o.Signs.marks(s, u.MessageID, body):
		c.held = &held{s: s, id: u.MessageID, text: body, marked: true}
	case !thought && c.failureText(s, u.MessageID, body):
		c.held = &held{s: s, id: u.MessageID, text: body}
	default:
		s.write(thought, u.MessageID, body)
	}
	if len(u.Meta) > 0 {
		d.called(s, parse[meta](u.Meta).Usage)
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
		s.c.text(s, thought, message)
		s.c.parts++
		s.thought, s.message, s.key = thought, message, fmt.Sprintf("part-%d", s.c.parts)
		s.noteRetry(text)
	}
	was := s.said[thought]
	s.said[thought] = partText{s.key, was.text + text}
	agentkit.VoiceOf(s.b, thought).Delta(s.key, text)
}

// leastRepeated is how long a beginning is that makes a part a retry of the one before:
// agents that try a model call again repeat what they have said.
const leastRepeated = 8

func (s *speaker) noteRetry(text string) {
	before := s.said[s.thought]
	s.said[s.thought] = partText{}
	if before.key != "" && len(text) >= leastRepeated && len(text) < len(before.text) && strings.HasPrefix(before.text, text) {
		agentkit.VoiceOf(s.b, s.thought).Repeats(s.key, before.key)
	}
}

// end ends the open part.
func (s *speaker) end() {
	if s.key != "" {
		agentkit.VoiceOf(s.b, s.thought).End(s.key, "")
	}
	s.key = ""
}
