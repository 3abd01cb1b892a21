package opencode

import (
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// message is an assistant's message: one request to the model.
type message struct {
	info
	held  int // bytes of info
	b     *trace.Builder
	parts map[string]string // types, by id
	// try and before are the texts and thoughts, by type, of the try that runs and of the
	// try before. OpenCode tells a try that failed, and then all again.
	try, before map[string][]string
}

// past in place of a text says that a message is of an earlier turn.
const past = "past"

// deaf in place of a part's type says that some deltas were lost: more deltas do not fit, and
// the whole text at the end tells what is missing.
const deaf = "deaf"

// message takes the state of a message.
func (d *Decoder) message(i info, t agent.Turns) {
	ours, turn := i.SessionID == d.session, d.running()
	switch {
	case d.seen.Get(i.ID) != "":
		return
	case i.Role == "user":
		if ours && turn != nil && turn.user == "" {
			turn.user = i.ID
		}
		if ours && turn == nil && d.foreign.id != i.ID {
			d.foreign.id, d.foreign.text = i.ID, ""
		}
		return
	case turn == nil && ours && i.Time.Completed == 0:
		turn = d.beginForeign(i.ParentID, t)
	}
	if turn == nil || !ours && turn.children[i.SessionID] == "" {
		return
	}
	if ours {
		d.spoke(i, t)
	}
	m := turn.messages[i.ID]
	switch {
	case m == nil:
		m = &message{b: turn.voice(i.SessionID), parts: map[string]string{}, try: map[string][]string{}}
		turn.messages[i.ID] = m
		if ours {
			turn.newest, turn.idle = m, false
		}
	case m.Time.Completed > 0:
		return // it was read back before its events came
	}
	m.info = i
	if held := len(agentkit.Encode(i)); held != m.held {
		turn.b.Hold(held - m.held)
		m.held = held
	}
	if ours && i.Time.Completed > 0 {
		d.do(agent.Resume{Token: agentkit.Bookmark{Conversation: d.session, Moment: i.ID}.Token()})
	}
}

// beginForeign begins the turn of a prompt that another client has sent.
func (d *Decoder) beginForeign(user string, t agent.Turns) *turn {
	info := agent.TurnInfo{Reason: "stream"}
	if d.foreign.id == user && d.foreign.text != "" {
		info.Prompt = &trace.Prompt{Message: trace.UserMessage{ID: user, Parts: []trace.InputPart{{Type: trace.InputText, Text: d.foreign.text}}}}
	}
	d.begin(t.Begin(info))
	if d.turn != nil {
		d.turn.user = user
	}
	return d.turn
}

// part takes a part of a message, as it is now, and reports whether the part is new.
func (d *Decoder) part(p part) (first bool) {
	turn := d.running()
	if turn == nil {
		if p.MessageID == d.foreign.id && p.Type == "text" && !p.Synthetic {
			d.foreign.text = string(p.Text)
		}
		return false
	}
	m := turn.messages[p.MessageID]
	if m == nil {
		return false
	}
	before := d.takeEarly(p.ID)
	if string(m.Summary) == "true" || p.Synthetic || p.Ignored {
		return false
	}
	if first = m.parts[p.ID] == ""; first {
		m.parts[p.ID] = p.Type
		agentkit.CountKept(m.b, p.ID, p.Type)
		switch {
		case p.Time.End > 0: // the whole has it
		case d.earlyLost:
			m.parts[p.ID] = deaf
		case strings.HasPrefix(before, string(p.Text)):
			p.Text = text(before)
		case !strings.Contains(string(p.Text), before):
			m.parts[p.ID] = deaf
		}
	}
	switch {
	case p.Type == "tool":
		d.tool(m, p)
	case p.Type == "text", p.Type == "reasoning":
		m.say(p, first, agentkit.VoiceOf(m.b, p.Type == "reasoning"))
	case !first:
	case p.Type == "step-start":
		if m.before == nil && m.SessionID == d.session {
			m.b.StepStart(trace.Step{NativeID: p.MessageID})
		}
		m.try, m.before = map[string][]string{}, m.try
	case p.Type == "step-finish":
		m.b.Emit(m.usage(p))
		m.b.StepFinish(p.Reason)
	case p.Type == "file" && p.URL != "":
		m.b.Emit(trace.File{URL: p.URL, MediaType: p.Mime, Filename: p.Filename})
	}
	return first
}

// say takes a text or a thought. The first of a try repeats the first of the try before.
func (m *message) say(p part, first bool, to agentkit.Voice) {
	if first {
		n := len(m.try[p.Type])
		m.try[p.Type] = append(m.try[p.Type], p.ID)
		if before := m.before[p.Type]; n < len(before) {
			to.Repeats(p.ID, before[n])
		}
	}
	switch {
	case p.Time.End > 0:
		to.Whole(p.ID, string(p.Text))
	case p.Text != "":
		to.Snapshot(p.ID, string(p.Text))
	}
}

// early is a text of a part whose type is not known yet: OpenCode may send deltas before it sends the part.
type early struct{ message, part, text string }

// mostEarly bounds the bytes of all early texts, and mostEarlyParts how many there are.
const mostEarly, mostEarlyParts = 1 << 16, 100

// delta takes more of a text or a thought.
func (d *Decoder) delta(p properties) {
	if p.Field != "text" || d.seen.Get(p.MessageID) != "" {
		return
	}
	m, kind := (*message)(nil), ""
	if d.turn != nil {
		if m = d.turn.messages[p.MessageID]; m != nil {
			kind = m.parts[p.PartID]
		}
	}
	switch kind {
	case "":
		d.keepEarly(p)
	case "text", "reasoning":
		agentkit.VoiceOf(m.b, kind == "reasoning").Delta(p.PartID, string(p.Delta))
	}
}

// keepEarly keeps a delta until its part comes. A part whose deltas are too many tells its text as a whole.
func (d *Decoder) keepEarly(p properties) {
	at, bytes := -1, len(p.Delta)
	for i, e := range d.early {
		bytes += len(e.text)
		if e.part == p.PartID {
			at = i
		}
	}
	switch {
	case d.earlyLost, bytes > mostEarly, at < 0 && len(d.early) == mostEarlyParts:
		d.early, d.earlyLost = nil, true
	case at < 0:
		d.early = append(d.early, early{p.MessageID, p.PartID, string(p.Delta)})
	default:
		d.early[at].text += string(p.Delta)
	}
}

// takeEarly returns what came of a part before the part.
func (d *Decoder) takeEarly(part string) (said string) {
	d.early = slices.DeleteFunc(d.early, func(e early) bool {
		if e.part == part {
			said = e.text
		}
		return e.part == part
	})
	return said
}

// flushEarly writes the texts whose parts have never come.
func (d *Decoder) flushEarly() {
	for _, e := range d.early {
		if m := d.turn.messages[e.message]; m != nil && string(m.Summary) != "true" {
			m.b.MessageDelta(e.part, e.text)
		}
	}
}

// gap says that events were lost.
func (d *Decoder) gap() {
	d.early = nil // what comes next goes on behind what was lost
	if d.turn == nil {
		return
	}
	for _, m := range d.turn.messages {
		for id := range m.parts {
			m.parts[id] = deaf
		}
	}
}

// usage counts what a step has used. OpenCode's numbers exclude the cache and the
// reasoning; those of a trace include both.
func (m *message) usage(p part) trace.Usage {
	n := p.Tokens
	u := trace.Usage{
		Scope: trace.UsageStep, InputTokens: int64(n.Input + n.Cache.Read + n.Cache.Write), OutputTokens: int64(n.Output + n.Reasoning),
		ReasoningTokens: int64(n.Reasoning), CacheReadTokens: int64(n.Cache.Read), CacheWriteTokens: int64(n.Cache.Write),
	}
	if m.ModelID != "" {
		u.Model = m.ProviderID + "/" + m.ModelID
	}
	if p.Cost > 0 {
		u.CostUSD = &p.Cost
	}
	return u
}
