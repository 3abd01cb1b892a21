package trace

import "strings"

// told returns the part that the text so far, or the whole text, is about: the
// open one, or a new one. It returns nil if a part that has ended said all that.
func (b *Builder) told(t *turn, key, text, half string, thought bool) *part {
	old := b.lookup(t, key, thought)
	if old == nil || !old.closed {
		return b.part(t, key, thought)
	}
	said := old.said()
	if old.cut || strings.HasPrefix(said, text) {
		t.counts.Repeated++
		if len(said) == len(text) {
			old.half = half // in case the part resumes
		}
		return nil
	}
	p := b.newPart(t, key, thought)
	if said != "" && strings.HasPrefix(text, said) {
		p.prior, p.goesOn = said, old
	}
	return p
}

// lacks returns what a text has beyond what the part said; ok is false if the
// two contradict each other.
func (p *part) lacks(text string) (rest string, ok bool) {
	have := p.soFar()
	if p.prior != "" {
		if rest, ok := strings.CutPrefix(text, p.prior); ok {
			if rest, ok := strings.CutPrefix(rest, have); ok {
				return rest, true
			}
		}
	}
	return strings.CutPrefix(text, have)
}

// soFar is what the agent has said of the part, also silently.
func (p *part) soFar() string {
	if p.repeat != nil {
		return p.repeat.seen()
	}
	return p.text.String()
}

// heal adds what the deltas dropped, and half a character to hold back.
func (t *turn) heal(p *part, rest, half string) {
	if rest == "" && half == "" {
		return
	}
	if rest != "" && (p.prior != "" || p.soFar() != "") {
		t.counts.Healed++
	}
	p.half = "" // the rest has it, and what follows
	t.grow(p, rest+half)
}

// disagrees counts a text that differs from the streamed text. The Builder never
// changes text that clients have seen.
func (t *turn) disagrees(p *part, text string, snapshot bool) {
	switch {
	case text == "", p.cut: // says nothing, or what there was no room for
	case snapshot && strings.HasPrefix(p.prior+p.soFar(), text): // came late
		t.counts.Repeated++
	default:
		t.counts.Contradicted++
	}
}
