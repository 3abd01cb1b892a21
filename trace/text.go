package trace

import "strings"

// part is a text or reasoning part of the turn.
type part struct {
	id      string
	thought bool
	by      Builder // the view it was opened through
	text    strings.Builder
	half    string // half a character, held back until its other half comes
	closed  bool
	repeat  *repeat
}

// repeat is a part that an agent's retry says anew.
type repeat struct {
	old  *part
	seen string
}

// MessageDelta adds text to the part with that key, and opens it if need be.
func (b *Builder) MessageDelta(key, delta string) {
	b.do(func(t *turn) { t.grow(b.part(t, key, false), delta) })
}

// MessageSnapshot gives the text of an open part so far. What the deltas lacked
// is added; a snapshot that contradicts them is counted and dropped.
func (b *Builder) MessageSnapshot(key, text string) {
	b.do(func(t *turn) { t.heal(b.part(t, key, false), text) })
}

// Message gives the whole text of a part and ends it. A whole of a part that
// has ended already with this text is a repetition and is dropped.
func (b *Builder) Message(key, text string) {
	b.do(func(t *turn) { b.whole(t, key, text, "", false) })
}

// MessageEnd ends a part with the text that was streamed.
func (b *Builder) MessageEnd(key string) {
	b.do(func(t *turn) { b.end(t, key, "", false) })
}

// ThoughtDelta adds reasoning to the part with that key.
func (b *Builder) ThoughtDelta(key, delta string) {
	b.do(func(t *turn) { t.grow(b.part(t, key, true), delta) })
}

// ThoughtSnapshot is MessageSnapshot for reasoning.
func (b *Builder) ThoughtSnapshot(key, text string) {
	b.do(func(t *turn) { t.heal(b.part(t, key, true), text) })
}

// Thought gives the whole of a reasoning part and ends it.
func (b *Builder) Thought(key, text, signature string) {
	b.do(func(t *turn) { b.whole(t, key, text, signature, true) })
}

// ThoughtEnd ends a reasoning part with what was streamed.
func (b *Builder) ThoughtEnd(key, signature string) {
	b.do(func(t *turn) { b.end(t, key, signature, true) })
}

// MessageRepeats says that the part with the new key, which has not begun, is
// a retry of an earlier one. Nothing is written while it repeats; where it goes
// on, so does the message; where it differs, it becomes a part of its own and
// the old one is marked as superseded.
func (b *Builder) MessageRepeats(key, earlier string) {
	b.do(func(t *turn) { b.repeats(t, key, earlier, false) })
}

// ThoughtRepeats is MessageRepeats for reasoning.
func (b *Builder) ThoughtRepeats(key, earlier string) {
	b.do(func(t *turn) { b.repeats(t, key, earlier, true) })
}

func (b *Builder) repeats(t *turn, key, earlier string, thought bool) {
	old, ok := t.parts[b.partKey(earlier, thought)]
	if !ok {
		return
	}
	if old.repeat != nil && old.id == "" {
		old = old.repeat.old // a retry of a retry that said nothing new
	}
	t.parts[b.partKey(key, thought)] = &part{thought: thought, by: *b, repeat: &repeat{old: old}}
}

func (b *Builder) partKey(key string, thought bool) string {
	if thought {
		return b.within + "\x00thought\x00" + key
	}
	return b.within + "\x00message\x00" + key
}

// part returns the part that is open under the key, or a new one.
func (b *Builder) part(t *turn, key string, thought bool) *part {
	k := b.partKey(key, thought)
	p, ok := t.parts[k]
	if !ok || p.closed {
		p = &part{thought: thought, by: *b}
		t.parts[k] = p
	}
	return p
}

// grow adds text to a part, holding back half a character at its end.
func (t *turn) grow(p *part, delta string) {
	text, half := splitHalf(p.half + delta)
	p.half = half
	if text == "" {
		return
	}
	if p.repeat != nil {
		t.growRepeat(p, text)
		return
	}
	t.emitDelta(p, text)
}

func (t *turn) emitDelta(p *part, text string) {
	if p.id == "" {
		t.openPart(p)
	}
	p.text.WriteString(text)
	if p.thought {
		p.by.say(t, ThoughtDelta{Part: p.id, Delta: text})
		return
	}
	p.by.say(t, MessageDelta{Part: p.id, Delta: text})
}

func (t *turn) openPart(p *part) {
	p.by.ensureStep(t)
	t.partsN++
	p.id = partID(p.thought, t.partsN)
	t.open = append(t.open, p)
	if p.thought {
		p.by.say(t, ThoughtStart{Part: p.id})
		return
	}
	p.by.say(t, MessageStart{Part: p.id, Role: RoleAssistant})
}

// heal adds what a snapshot has beyond the deltas; it reports whether the
// snapshot agrees with them.
func (t *turn) heal(p *part, text string) bool {
	have := p.text.String() + p.half
	if p.repeat != nil {
		have = p.repeat.seen + p.half
	}
	rest, ok := strings.CutPrefix(text, have)
	if !ok {
		if joined, _ := splitHalf(have); strings.HasPrefix(text, joined) { // the half was wrong, the rest is not
			p.half = ""
			rest, ok = text[len(joined):], true
		}
	}
	if !ok {
		t.counts.Contradicted++
		return false
	}
	if rest != "" {
		if have != "" {
			t.counts.Healed++
		}
		t.grow(p, rest)
	}
	return true
}

func (b *Builder) whole(t *turn, key, text, signature string, thought bool) {
	if p, ok := t.parts[b.partKey(key, thought)]; ok && p.closed {
		said := p.text.String()
		if strings.HasPrefix(said, text) {
			t.counts.Repeated++
			return
		}
		if rest, ok := strings.CutPrefix(text, said); ok && said != "" {
			t.counts.Healed++
			text = rest
		}
	}
	p := b.part(t, key, thought)
	t.heal(p, text)
	t.closePart(p, signature)
}

func (b *Builder) end(t *turn, key, signature string, thought bool) {
	if p, ok := t.parts[b.partKey(key, thought)]; ok && !p.closed {
		t.closePart(p, signature)
	}
}

// closePart writes the whole of a part. A part without text leaves no trace.
func (t *turn) closePart(p *part, signature string) {
	if p.half != "" {
		half := p.half
		p.half = ""
		t.grow(p, replaceHalf(half))
	}
	t.forget(p)
	if p.id != "" {
		t.putWhole(p, signature, false)
	}
}

// forget takes a part that is whole off the list of open ones, and keeps its
// text in case it is what the agent ends with.
func (t *turn) forget(p *part) {
	p.closed = true
	for i, o := range t.open {
		if o == p {
			t.open = append(t.open[:i], t.open[i+1:]...)
			break
		}
	}
	if p.id == "" || p.thought || p.by.within != "" {
		return
	}
	if t.finalAt != t.steps {
		t.final, t.finalAt = nil, t.steps
	}
	t.final = append(t.final, p.text.String())
}

func (t *turn) putWhole(p *part, signature string, superseded bool) {
	if p.thought {
		p.by.say(t, Thought{Part: p.id, Text: p.text.String(), Signature: signature, Superseded: superseded})
		return
	}
	p.by.say(t, Message{Part: p.id, Role: RoleAssistant, Text: p.text.String(), Superseded: superseded})
}
