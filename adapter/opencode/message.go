package opencode

import (
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// message is an assistant's message: one request to the model.
type message struct {
	session string
	b       *trace.Builder
	model   string
	finish  string
	failed  *fault
	done    bool
	silent  bool // it sums up the conversation, for the agent alone

	types map[string]string // of parts, by id
	deaf  map[string]bool   // texts and thoughts of which some deltas were lost
	// tries are the texts and thoughts of each try, by type. OpenCode tells a try that
	// failed, and then all again.
	tries []map[string][]string
}

// message takes what is said of a message.
func (d *Decoder) message(i info, t agent.Turns) {
	if d.seen[i.ID] {
		return
	}
	turn := d.running()
	if i.Role == "user" {
		switch {
		case i.SessionID != d.session:
		case turn == nil:
			d.foreign = foreign{id: i.ID, text: d.foreign.of(i.ID)}
		case turn.user == "":
			turn.user = i.ID
		}
		return
	}
	if turn == nil && i.SessionID == d.session && i.Time.Completed == 0 {
		turn = d.beginForeign(i.ParentID, t)
	}
	if turn == nil || i.SessionID != d.session && !turn.started[d.children[i.SessionID]] {
		return
	}
	m, ok := turn.messages[i.ID]
	if !ok {
		m = &message{session: i.SessionID, b: d.voice(i.SessionID), types: map[string]string{}, deaf: map[string]bool{}}
		m.silent = string(i.Summary) == "true"
		turn.messages[i.ID] = m
		if i.SessionID == d.session {
			turn.newest, turn.idle = m, false
		}
	}
	if i.ModelID != "" {
		m.model = i.ProviderID + "/" + i.ModelID
	}
	if i.Finish != "" {
		m.finish = i.Finish
	}
	if i.Error != nil {
		m.failed = i.Error
	}
	if i.Time.Completed > 0 && !m.done {
		m.done = true
		if i.SessionID == d.session {
			d.newest = i.ID
			d.effects = append(d.effects, agent.Resume{Token: d.session + "/" + d.newest})
		}
	}
}

func (f foreign) of(id string) string {
	if f.id == id {
		return f.text
	}
	return ""
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

// part takes a part of a message, as it is now.
func (d *Decoder) part(p part) {
	turn := d.running()
	if turn == nil {
		if p.MessageID == d.foreign.id && p.Type == "text" && !p.Synthetic {
			d.foreign.text = string(p.Text)
		}
		return
	}
	m := turn.messages[p.MessageID]
	if m == nil || m.silent || p.Synthetic || p.Ignored {
		return
	}
	first := m.types[p.ID] == ""
	m.types[p.ID] = p.Type
	switch p.Type {
	case "step-start":
		if first {
			m.tries = append(m.tries, map[string][]string{})
		}
		if first && len(m.tries) == 1 && m.session == d.session {
			m.b.StepStart(trace.Step{NativeID: p.MessageID})
		}
	case "step-finish":
		if first {
			m.b.Emit(m.usage(p))
		}
	case "text", "reasoning":
		m.write(p, first)
	case "tool":
		d.tool(m, p)
	case "file":
		if first && p.URL != "" {
			m.b.Emit(trace.File{URL: p.URL, MediaType: p.Mime, Filename: p.Filename})
		}
	}
}

// write takes a text or a thought.
func (m *message) write(p part, first bool) {
	thought := p.Type == "reasoning"
	if first {
		m.repeats(p)
	}
	switch {
	case p.Time.End == 0 && p.Text == "":
	case thought && p.Time.End > 0:
		m.b.Thought(p.ID, string(p.Text), "")
	case thought:
		m.b.ThoughtSnapshot(p.ID, string(p.Text))
	case p.Time.End > 0:
		m.b.Message(p.ID, string(p.Text))
	default:
		m.b.MessageSnapshot(p.ID, string(p.Text))
	}
}

// repeats says which part of the failed try a new part repeats.
func (m *message) repeats(p part) {
	if len(m.tries) == 0 {
		m.tries = append(m.tries, map[string][]string{})
	}
	try := m.tries[len(m.tries)-1]
	n := len(try[p.Type])
	try[p.Type] = append(try[p.Type], p.ID)
	if len(m.tries) < 2 {
		return
	}
	if before := m.tries[len(m.tries)-2][p.Type]; n < len(before) {
		if p.Type == "text" {
			m.b.MessageRepeats(p.ID, before[n])
		} else {
			m.b.ThoughtRepeats(p.ID, before[n])
		}
	}
}

// delta takes more of a text or a thought.
func (d *Decoder) delta(p properties) {
	turn := d.running()
	if turn == nil || p.Field != "text" {
		return
	}
	m := turn.messages[p.MessageID]
	if m == nil || m.silent || m.deaf[p.PartID] {
		return
	}
	switch m.types[p.PartID] {
	case "text":
		m.b.MessageDelta(p.PartID, string(p.Delta))
	case "reasoning":
		m.b.ThoughtDelta(p.PartID, string(p.Delta))
	}
}

// gap says that events were lost: the deltas of open texts do not fit any more, and the
// whole text at the end tells what is missing.
func (d *Decoder) gap() {
	if d.turn == nil {
		return
	}
	for _, m := range d.turn.messages {
		for id := range m.types {
			m.deaf[id] = true
		}
	}
}

// usage counts what a step has used. OpenCode's numbers exclude the cache and the
// reasoning; those of a trace include both.
func (m *message) usage(p part) trace.Usage {
	in, out := p.Tokens.Input+p.Tokens.Cache.Read+p.Tokens.Cache.Write, p.Tokens.Output+p.Tokens.Reasoning
	u := trace.Usage{
		Scope: trace.UsageStep, Model: m.model, InputTokens: int64(in), OutputTokens: int64(out), ReasoningTokens: int64(p.Tokens.Reasoning),
		CacheReadTokens: int64(p.Tokens.Cache.Read), CacheWriteTokens: int64(p.Tokens.Cache.Write),
	}
	if p.Cost > 0 {
		u.CostUSD = &p.Cost
	}
	return u
}

// terminal reports whether a tool's state is its last.
func terminal(status string) bool { return slices.Contains([]string{"completed", "error"}, status) }
