package trace

import "strings"

// This file recognizes the retries of an agent, which repeat a text.

// sameBeginning is how much of a retry must repeat before a difference means a new
// text. With less, the retry went on where it was cut off: some agents resume where
// they stopped, and then nothing repeats.
const sameBeginning = 16

// retry is a retry that has said nothing new so far.
type retry struct {
	old    *part
	base   string // what old said
	joined bool   // base has also what the Builder had cut off from old
	size   int    // the length of old's text when base was taken
	n      int    // how much of base was repeated
}

func newRetry(old *part) *retry {
	r := &retry{old: old, size: -1}
	r.joined = r.old.before != nil || r.old.continues != nil
	r.joined = r.joined && len(r.text()) != len(old.whole())
	return r
}

// text is what the retry is compared with. A failed part may still grow.
func (r *retry) text() string {
	if r.size != r.old.text.Len() {
		r.size = r.old.text.Len()
		if r.base = r.old.whole(); r.joined {
			r.base = r.old.said()
		}
	}
	return r.base
}

func (r *retry) seen() string { return r.text()[:r.n] }

// useShorterBase reports whether the retry repeats the old part better without the text
// that was cut off from that part. Then the comparison starts again with the shorter text.
func (r *retry) useShorterBase(said string) bool {
	if !r.joined || commonPrefix(r.old.whole(), said) < commonPrefix(r.text(), said) {
		return false
	}
	r.joined, r.size, r.n = false, -1, 0
	return true
}

func (b *Builder) repeats(t *turn, key, earlier string, thought bool) {
	old := b.lookup(t, earlier, thought)
	if old == nil {
		return
	}
	old = old.newest()
	if p := b.lookup(t, key, thought); p != nil && p.id != "" && !p.closed && key != earlier {
		return // it has begun
	}
	p := b.newPart(t, key, thought)
	p.retry = newRetry(old)
}

// newest is the part that a retry of p repeats: the last retry that said
// something, else the part that the retries repeated.
func (p *part) newest() *part {
	for {
		switch {
		case p.supersededBy != nil:
			p = p.supersededBy
		case p.mergedInto != nil:
			p = p.mergedInto
		case p.retry != nil:
			p = p.retry.old
		default:
			return p
		}
	}
}

// appendRetry compares what a retry says with what was said before.
func (t *turn) appendRetry(p *part, text string) {
	r := p.retry
	base := r.text()
	left := base[r.n:]
	if strings.HasPrefix(left, text) {
		r.n += len(text)
		return
	}
	rest, more := strings.CutPrefix(text, left)
	if said := base[:r.n] + text; !more && r.useShorterBase(said) {
		t.appendRetry(p, said)
		return
	}
	p.retry = nil
	switch {
	case more && !r.old.superseded:
		t.continuePart(p, r, rest)
		return
	case r.old.superseded, r.n+commonPrefix(left, text) >= min(sameBeginning, len(base)):
		t.supersede(r, p)
	default:
		t.closePart(r.old, "")
		p.follows(r.old, base)
	}
	t.emitDelta(p, base[:r.n]+text)
}

// continuePart continues the old part if it is still open, else in a part of its own.
func (t *turn) continuePart(p *part, r *retry, rest string) {
	if r.old.closed {
		p.follows(r.old, r.text())
		t.emitDelta(p, rest)
		return
	}
	p.mergedInto = r.old
	r.old.partialRune, p.partialRune = p.partialRune, ""
	t.emitDelta(r.old, rest)
}

// endRetry ends a retry that said nothing new, and returns the part to close.
// If it ended early, that is what differs; and if another retry was faster and
// differed, what stands is no longer what this one repeats.
func (t *turn) endRetry(p *part) *part {
	r := p.retry
	p.retry = nil
	if said := r.seen(); r.useShorterBase(said) {
		r.n = len(said) // it is a prefix of both
	}
	switch base := r.text(); {
	case r.n == 0:
	case r.n == len(base) && !r.old.superseded:
		p.mergedInto = r.old
	default:
		t.supersede(r, p)
		t.emitDelta(p, base[:r.n])
	}
	return p.resolve()
}

// supersede marks what an earlier try had said, and whatever that went on with.
// A part that ended already gets a second whole, which carries the mark.
func (t *turn) supersede(r *retry, by *part) {
	old := r.old
	for old.supersededBy != nil {
		old = old.supersededBy
	}
	for o := old; o != nil; {
		if !o.superseded && o.id != "" {
			o.superseded, o.supersededBy, o.partialRune = true, by, ""
			t.notFinal(o)
			if !o.closed {
				t.forget(o)
			}
			t.putFull(o)
		}
		switch {
		case o.continues != nil:
			o = o.continues
		case r.joined:
			o = o.before
		default:
			o = nil
		}
	}
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
