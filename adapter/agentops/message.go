package agentops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// message is an assistant's message: what the server calls a turn. A turn here has several if
// another model takes over.
type message struct {
	id      string
	turn    *turn
	texts   int  // texts between tools, so far
	open    bool // the last of them has no end yet
	calls   map[string]*call
	order   []*call
	waiting int // calls without a result

	// Texts that come while some may be missing are held until the whole message comes, or
	// until it is clear that it will not.
	away bool // the connection was lost in the middle of it
	held []string
	size int // of the held texts, about
}

const (
	mostCalls = 10_000
	mostHeld  = 1 << 20
)

// added takes a message that begins, or is whole at once.
func (d *Decoder) added(m wire.Message, to agent.Turns) {
	channel := m.Channel.Name(m.ThreadID)
	switch m.Role {
	case wire.RoleUser:
		d.userMessage(m)
	case wire.RoleAssistant:
		if mine := d.create(m.ID, channel, to); mine != nil && len(m.Parts) > 0 {
			d.reconcile(mine, m, false)
		}
	default: // a note of the system, such as a screenshot
		for _, p := range m.Parts {
			if p.Data != "" && (p.Type == wire.PartScreenshot || p.Type == wire.PartImage) {
				d.emit(d.active(channel), picture(p), to)
			}
		}
	}
}

// updated takes the whole of a message as it now is.
func (d *Decoder) updated(m wire.Message, to agent.Turns) {
	_, known := d.messages[m.ID]
	if !known && m.Role != wire.RoleAssistant { // a user's, whose speech was written down
		return
	}
	if mine := d.unknown(m.ID, m.Channel.Name(m.ThreadID), to); mine != nil {
		d.reconcile(mine, m, false)
	}
}

// create begins a message.
func (d *Decoder) create(id, channel string, to agent.Turns) *message {
	if m, known := d.messages[id]; known || len(id) > longestID {
		return m
	}
	t := d.active(channel)
	if t != nil && (t.verdict != nil || d.succeeded(t)) {
		d.cut(t) // its last word will not come any more
		t = nil
	}
	if t == nil {
		t = d.begin(d.next(channel, true), channel, to)
	}
	return d.add(id, t)
}

// succeeded reports whether the agent works on another prompt than that of a turn, which may
// have ended.
func (d *Decoder) succeeded(t *turn) bool {
	next := d.justShown()
	return next != nil && next.channel == t.channel && (t.course == stopping || t.ending == endRepeated)
}

// unknown finds the message of a frame. The beginning of the message may be unseen.
func (d *Decoder) unknown(id, channel string, to agent.Turns) *message {
	if m, known := d.messages[id]; known || len(id) > longestID {
		return m
	}
	t := d.active(channel)
	if t == nil {
		t = d.begin(d.next(channel, false), channel, to)
	}
	m := d.add(id, t)
	if m != nil && d.unseen {
		m.away = true
	}
	return m
}

func (d *Decoder) add(id string, t *turn) *message {
	if t == nil {
		d.forget(id)
		return nil
	}
	if t.message != nil {
		t.message.leave()
		delete(d.messages, t.message.id)
		d.forget(t.message.id)
	}
	m := &message{id: id, turn: t, calls: map[string]*call{}}
	t.message, d.messages[id] = m, m
	t.courseOn(speaks)
	if !slices.Contains(t.native, id) { // else the beginning of the message is on record, and the open step is its
		t.b.StepStart(trace.Step{NativeID: id})
	}
	return m
}

// leave closes what a message left open when another takes its place.
func (m *message) leave() {
	m.flush()
	m.endText()
	for _, c := range m.order {
		if c.state != callDone {
			m.result(c, trace.ToolResult{Status: trace.ToolCanceled, Error: "Not finished: the agent began anew."})
		}
	}
}

// empty reports whether nothing of a message was seen but its beginning.
func (m *message) empty() bool {
	return m != nil && m.texts == 0 && len(m.calls) == 0 && len(m.held) == 0
}

// works reports whether a call of the message has no result.
func (m *message) works() bool { return m != nil && m.waiting > 0 }

// chunk takes more text.
func (d *Decoder) chunk(f wire.Chunk, to agent.Turns) {
	m := d.unknown(f.MessageID, f.Channel.Name(""), to)
	if m == nil || m.turn.course == stopping {
		return
	}
	d.moved()
	if !m.away && m.turn.course != idling {
		m.grow(string(f.Content))
		return
	}
	if m.size += 16 + len(f.Content); m.size <= mostHeld {
		m.held = append(m.held, string(f.Content))
	}
	m.turn.b.Touch()
}

// key names the last text to the Builder.
func (m *message) key() string { return fmt.Sprintf("%s/%d", m.id, m.texts-1) }

// beginText begins another text, unless one is open.
func (m *message) beginText() {
	if !m.open {
		m.texts++
		m.open = true
	}
}

// grow adds to the text that is open, or begins another.
func (m *message) grow(text string) {
	if text == "" {
		m.turn.b.Touch()
		return
	}
	m.beginText()
	m.turn.b.MessageDelta(m.key(), text)
}

// endText ends the text that is open: text after a tool is another one.
func (m *message) endText() {
	if m.open {
		m.turn.b.MessageEnd(m.key())
		m.open = false
	}
}

// takeHeld forgets the held texts, and returns them.
func (m *message) takeHeld() (held []string) {
	held, m.held, m.size, m.away = m.held, nil, 0, false
	return held
}

// flush writes the held texts. Texts after an abort are late, and dropped.
func (m *message) flush() {
	late := m.turn.course == stopping || m.turn.course == idling && m.turn.verdict == nil
	for _, text := range m.takeHeld() {
		if !late {
			m.grow(text)
		}
	}
}

// reconcile compares a message with what was streamed, adds what is missing in the order of its
// parts, and takes the end of the turn from it. A message from a history may be older than the
// newest frames.
func (d *Decoder) reconcile(m *message, whole wire.Message, history bool) {
	t, reason, text, final := m.turn, "", "", false
	t.b.Touch()
	for _, p := range whole.Parts {
		switch p.Type {
		case wire.PartFinish:
			reason, final = p.Reason, true
		case wire.PartError:
			text = p.Message
		}
	}
	if t.course != stopping {
		d.reconcileParts(m, whole.Parts, final, history)
	}
	switch {
	case t.verdict != nil && !m.works(): // the last word has come
		d.end(t, *t.verdict)
	case t.verdict != nil || !final:
	default:
		stop := stopOf(reason, text)
		stop.FinalOutput = lastWords(whole.Parts)
		t.verdict = &stop // the held texts are no late ones of a stopped turn
		m.flush()
		t.verdict = nil
		m.endText()
		d.finish(t, stop)
	}
}

func (d *Decoder) reconcileParts(m *message, parts wire.Parts, final, history bool) {
	texts := texts(parts)
	n := 0
	for _, p := range parts {
		switch p.Type {
		case wire.PartText:
			if p.Text != "" {
				m.reconcileText(n, texts, final)
				n++
			}
		case wire.PartToolCall:
			if c := m.calls[p.CallID]; !history || c == nil || c.state != callDone {
				d.tool(m, p)
			}
		}
	}
}

// lastWords is the text after the last call of a message that has calls, and "" if there is none. A
// result may come late, and then the records do not show that the text answers it.
func lastWords(parts wire.Parts) string {
	for i, p := range slices.Backward(parts) {
		if p.Type == wire.PartToolCall {
			return strings.Join(texts(parts[i+1:]), "\n\n")
		}
	}
	return ""
}

func texts(parts wire.Parts) (all []string) {
	for _, p := range parts {
		if p.Type == wire.PartText && p.Text != "" {
			all = append(all, string(p.Text))
		}
	}
	return all
}

// reconcileText adds the end of a text that was not streamed. A text that has ended stays.
func (m *message) reconcileText(n int, texts []string, final bool) {
	whole, last := texts[n], n == len(texts)-1
	switch {
	case final && !last && whole == texts[len(texts)-1]: // the text after the last tool may stand everywhere
		return
	case n < m.texts-1, n == m.texts-1 && !m.open:
		return
	case n >= m.texts:
		m.endText()
	}
	if last {
		m.takeHeld() // the whole has them
	}
	m.beginText()
	m.turn.b.MessageSnapshot(m.key(), whole)
}

// missed holds the texts of running turns until the next whole message: no history has the end
// of the text that is being written.
func (d *Decoder) missed() {
	for t := range d.running() {
		if t.message != nil {
			t.message.away = true
		}
	}
}

// openBeside reports whether a turn is open that is not the prompt's.
func (d *Decoder) openBeside(id string) bool {
	return slices.ContainsFunc(d.turns, func(t *turn) bool { return (t.runs() || t.b != nil) && t.id != id })
}
