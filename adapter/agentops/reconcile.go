package agentops

import (
	"slices"

	"github.com/tributary-dev/tributary/agent"
	wire "github.com/tributary-dev/tributary/agentops"
)

// message takes a new message.
func (d *Decoder) message(m wire.Message, t agent.Turns) {
	switch m.Role {
	case wire.RoleUser:
		d.userMessage(m)
	case wire.RoleAssistant:
		d.assistant(m, t)
	default:
		d.system(m, t)
	}
}

// assistant takes the start of a turn, or a message that is whole at once.
func (d *Decoder) assistant(m wire.Message, t agent.Turns) {
	channel := m.Channel.Name(m.ThreadID)
	_, known := d.turns[m.ID]
	if !known && m.Content != "" && len(m.Parts) == 0 {
		d.announcement(m, channel, t)
		return
	}
	if tn := d.create(m.ID, channel, t); tn != nil && len(m.Parts) > 0 {
		d.reconcile(tn, m, false)
	}
}

// announcement takes a message that no turn made, such as one that was forwarded.
func (d *Decoder) announcement(m wire.Message, channel string, t agent.Turns) {
	r := d.active(channel)
	if r == nil {
		if r = d.begin(nil, channel, t); r == nil {
			return
		}
		defer d.end(r, stopOf(endTurn, ""))
	}
	r.b.Message(m.ID, string(m.Content))
}

// updated takes the whole of a message as it now is.
func (d *Decoder) updated(m wire.Message, t agent.Turns) {
	_, known := d.turns[m.ID]
	if !known && m.Role != wire.RoleAssistant { // a user's, whose speech was written down
		return
	}
	if tn := d.unknown(m.ID, m.Channel.Name(m.ThreadID), t); tn != nil {
		d.reconcile(tn, m, false)
	}
}

// reconcile compares a turn with the whole message, adds what is missing in the order of
// its parts, and takes its end from it. One from history may be older than what was
// said since.
func (d *Decoder) reconcile(tn *turn, m wire.Message, history bool) {
	tn.run.b.Touch()
	parts := m.Parts
	final := slices.ContainsFunc(parts, func(p wire.Part) bool { return p.Type == wire.PartFinish })
	if tn.run.course != stopping {
		d.reconcileParts(tn, parts, final, history)
	}
	if tn.run.verdict != nil {
		d.lastWord(tn.run)
		return
	}
	if !final {
		return
	}
	reason, text := "", ""
	for _, p := range parts {
		switch p.Type {
		case wire.PartFinish:
			reason = p.Reason
		case wire.PartError:
			text = p.Message
		}
	}
	tn.ends(d, stopOf(reason, text))
}

func (d *Decoder) reconcileParts(tn *turn, parts wire.Parts, final, history bool) {
	texts := texts(parts)
	n := 0
	for _, p := range parts {
		switch p.Type {
		case wire.PartText:
			if p.Text != "" {
				tn.reconcileText(n, texts, final)
				n++
			}
		case wire.PartToolCall:
			if c := tn.calls[p.CallID]; !(history && c != nil && c.state == callDone) {
				d.tool(tn, p)
			}
		}
	}
}

func texts(parts wire.Parts) []string {
	var all []string
	for _, p := range parts {
		if p.Type == wire.PartText && p.Text != "" {
			all = append(all, string(p.Text))
		}
	}
	return all
}

// reconcileText adds what a text has beyond what was streamed of it. The Builder leaves what
// contradicts that: nothing is ever taken back. A text that has ended stays as it is.
func (tn *turn) reconcileText(n int, texts []string, final bool) {
	whole, last := texts[n], n == len(texts)-1
	switch {
	case final && !last && whole == texts[len(texts)-1]: // the text after the last tool may stand everywhere
		return
	case n < tn.texts-1, n == tn.texts-1 && !tn.open:
		return
	case n >= tn.texts:
		tn.endText()
	}
	if last {
		tn.release() // the whole has it
	}
	tn.beginText()
	tn.run.b.MessageSnapshot(tn.key(), whole)
}
