package trace

import (
	"fmt"
	"slices"
	"strings"
)

// This file writes the text parts of a turn.

// part is a text or reasoning part of the turn.
type part struct {
	id          string // "" until it has text
	thought     bool
	by          author
	text        strings.Builder
	partialRune string // half a character, held back until its other half comes
	signature   string
	deltas      int // how many made the text
	held        int // bytes that count as held
	closed      bool
	forced      bool // closed by the Builder, not by the agent
	superseded  bool
	cut         bool // it was too long, and takes no more

	prior        string // what earlier parts said that full texts of this one may repeat
	continues    *part  // the part whose text this one goes on with
	before       *part  // the part under the same key that the Builder cut off
	retry        *retry // set while an agent's retry only repeats
	mergedInto   *part  // a retry that turned out to go on with an open part
	supersededBy *part  // the retry that superseded this part
}

// partKey is how an agent names a part.
type partKey struct {
	within, key string
	thought     bool
}

// resolve follows retries to the part that is written.
func (p *part) resolve() *part {
	for p != nil && p.mergedInto != nil {
		p = p.mergedInto
	}
	return p
}

// said is the text under which the agent knows the part.
func (p *part) said() string {
	if p.prior == "" {
		return p.text.String()
	}
	return p.prior + p.text.String()
}

// tooLong is how much text is kept to recognise a whole that repeats it.
const tooLong = 1 << 20

// follows makes the part one that goes on where another ended.
func (p *part) follows(old *part, said string) {
	p.continues, p.prior = old, ""
	if len(said) <= tooLong {
		p.prior = said
	}
}

func (b *Builder) lookup(t *turn, key string, thought bool) *part {
	return t.parts[partKey{b.within, key, thought}].resolve()
}

func (b *Builder) newPart(t *turn, key string, thought bool) *part {
	p := &part{thought: thought, by: b.author(t)}
	t.parts[partKey{b.within, key, thought}] = p
	t.hold(len(key))
	t.weighPart(p)
	return p
}

// part returns the part that is open under the key, or a new one.
func (b *Builder) part(t *turn, key string, thought bool) *part {
	p := b.lookup(t, key, thought)
	if p != nil && !p.closed {
		return p
	}
	old := p
	p = b.newPart(t, key, thought)
	if old == nil || !old.forced {
		return p
	}
	// The part continues one that the Builder cut off. The agent may also mean a new part, if the
	// agent has only one key for all parts.
	p.partialRune, old.partialRune = old.partialRune, ""
	if len(old.prior)+old.text.Len() <= tooLong {
		p.prior, p.before = old.said(), old
	}
	return p
}

// grow adds text to a part, holding back half a character at its end.
func (t *turn) grow(p *part, delta string) {
	if p.partialRune != "" {
		delta = p.partialRune + delta
	}
	text, half := splitPartialRune(delta)
	p.partialRune = half
	switch {
	case text == "":
	case p.retry != nil:
		t.appendRetry(p, text)
	default:
		t.emitDelta(p, text)
	}
}

func (t *turn) emitDelta(p *part, text string) {
	if p.cut {
		return
	}
	if p.id == "" {
		t.openPart(p)
	}
	// A part that is full ends with a mark: an agent that does not know when to stop costs no more
	// than that, and what was said before stays.
	if text, p.cut = clip(text, t.MaxEvent-p.text.Len()); p.cut {
		t.tooLarge()
	}
	p.text.WriteString(text)
	p.deltas++
	t.weighPart(p)
	if p.thought {
		t.emitAs(p.by, ThoughtDelta{Part: p.id, Delta: text})
		return
	}
	t.emitAs(p.by, MessageDelta{Part: p.id, Delta: text})
}

func (t *turn) openPart(p *part) {
	t.closeRefused(p.by)
	if t.stepAfterResults && t.stepOpen && !p.by.subagent() && t.answered() {
		t.closeStep(false)
	}
	t.ensureStep(p.by)
	t.partsN++
	t.open = append(t.open, p)
	if p.thought {
		p.id = fmt.Sprintf("thought-%d", t.partsN)
		t.emitAs(p.by, ThoughtStart{Part: p.id})
		return
	}
	p.id = fmt.Sprintf("text-%d", t.partsN)
	t.emitAs(p.by, MessageStart{Part: p.id, Role: RoleAssistant})
}

// closePart writes the whole of a part. A part without text leaves no trace.
func (t *turn) closePart(p *part, signature string) {
	if p.closed { // half a character that it waits for is not to be written any more
		return
	}
	if p.partialRune != "" {
		p.partialRune = ""
		t.grow(p, lostRune)
		p = p.resolve()
	}
	if p.retry != nil {
		p = t.endRetry(p)
	}
	if p.closed {
		return
	}
	p.signature = signature
	t.forget(p)
	if p.id != "" {
		t.putFull(p)
	}
}

// forget takes a part that is whole off the list of open ones, and keeps its
// text in case it is what the agent ends with. The list is swept now and then,
// so that no order of ends makes it slow.
func (t *turn) forget(p *part) {
	p.closed = true
	t.weighPart(p)
	if p.id == "" {
		return
	}
	if t.shut++; t.shut > 8 && t.shut > len(t.open)/2 {
		t.open = slices.DeleteFunc(t.open, func(o *part) bool { return o.closed })
		t.shut = 0
	}
	if p.thought || p.superseded || p.by.subagent() {
		return
	}
	if t.finalAt != t.steps {
		t.final, t.finalAt = nil, t.steps
	}
	t.notFinal(p.continues)
	t.final = append(t.final, p)
}

func (t *turn) notFinal(p *part) {
	if p == nil {
		return
	}
	for i, final := range slices.Backward(t.final) {
		if final == p {
			t.final = slices.Delete(t.final, i, i+1)
			return
		}
	}
}

// finalOutput is the text of the newest step that had any.
func (t *turn) finalOutput() string {
	texts := make([]string, len(t.final))
	for i, p := range t.final {
		texts[i] = p.whole()
	}
	return strings.Join(texts, "\n\n")
}

// whole is the text of the part and of those that it goes on with.
func (p *part) whole() string {
	if p.continues == nil {
		return p.text.String()
	}
	var texts []string
	for ; p != nil; p = p.continues {
		texts = append(texts, p.text.String())
	}
	slices.Reverse(texts)
	return strings.Join(texts, "")
}

// closeParts ends the open parts: the agent's own, or those of sub-agents too.
// Half a character waits for the part to go on, as it may unless this is the end.
func (t *turn) closeParts(subagents, end bool) {
	open := t.open
	t.open = nil
	for _, p := range open {
		if p.closed {
			continue
		}
		if p.by.subagent() && !subagents {
			t.open = append(t.open, p)
			continue
		}
		p.forced = true
		half := p.partialRune
		if !end {
			p.partialRune = ""
		}
		t.closePart(p, "")
		if !end {
			p.partialRune = half
		}
	}
	t.shut = 0
}

// closePartsOf ends the open parts of a sub-agent that no call started.
func (t *turn) closePartsOf(s *sub) {
	for _, p := range slices.Clone(t.open) {
		if p.by.sub == s && !p.closed {
			p.forced = true
			t.closePart(p, "")
		}
	}
}

func (t *turn) putFull(p *part) {
	text := p.text.String()
	if p.thought {
		t.emitAs(p.by, Thought{Part: p.id, Text: text, Signature: p.signature, Superseded: p.superseded})
		return
	}
	t.emitAs(p.by, Message{Part: p.id, Role: RoleAssistant, Text: text, Superseded: p.superseded})
}
