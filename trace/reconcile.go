package trace

import "strings"

// This file makes deltas, snapshots and full texts of a part agree.

// partFor returns the part that the text so far, or the whole text, is about: the
// open one, or a new one. It returns nil if a part that has ended said all that.
func (b *Builder) partFor(t *turn, key, text, half string, thought bool) *part {
	old := b.lookup(t, key, thought)
	if old == nil || !old.closed {
		return b.part(t, key, thought)
	}
	said := old.said()
	if old.cut || strings.HasPrefix(said, text) {
		t.counts.Repeated++
		if len(said) == len(text) {
			old.partialRune = half // in case the part resumes
		}
		return nil
	}
	p := b.newPart(t, key, thought)
	if said != "" && strings.HasPrefix(text, said) {
		p.prior, p.continues = said, old
	}
	return p
}

// missingSuffix returns what a text has beyond what the part said; ok is false if the
// two contradict each other.
func (p *part) missingSuffix(text string) (rest string, ok bool) {
	have := p.soFarText()
	if p.prior != "" {
		if rest, ok := strings.CutPrefix(text, p.prior); ok {
			if rest, ok := strings.CutPrefix(rest, have); ok {
				return rest, true
			}
		}
	}
	return strings.CutPrefix(text, have)
}

// soFarText is what the agent has said of the part, also silently.
func (p *part) soFarText() string {
	if p.retry != nil {
		return p.retry.seen()
	}
	return p.text.String()
}

// reconcile adds what the deltas dropped, and half a character to hold back.
func (t *turn) reconcile(p *part, rest, half string) {
	if rest == "" && half == "" {
		return
	}
	if rest != "" && (p.prior != "" || p.soFarText() != "") {
		t.counts.Reconciled++
	}
	p.partialRune = "" // the rest has it, and what follows
	t.grow(p, rest+half)
}

// countConflict counts a text that differs from the streamed text. The Builder never
// changes text that clients have seen.
func (t *turn) countConflict(p *part, text string, snapshot bool) {
	switch {
	case text == "", p.cut: // says nothing, or what there was no room for
	case snapshot && strings.HasPrefix(p.prior+p.soFarText(), text): // came late
		t.counts.Repeated++
	default:
		t.counts.Contradicted++
	}
}
