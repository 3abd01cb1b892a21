package trace

import (
	"slices"
	"strings"
)

// sameBeginning is how much of a retry must repeat before a difference means
// "said anew" and not "went on where it was cut off": some agents are told to
// resume where they stopped, and then nothing repeats.
const sameBeginning = 16

// growRepeat compares what a retry says with what was said before.
func (t *turn) growRepeat(p *part, text string) {
	r := p.repeat
	r.seen += text
	old := r.old.text.String()
	if strings.HasPrefix(old, r.seen) {
		return
	}
	p.repeat = nil
	if rest, ok := strings.CutPrefix(r.seen, old); ok {
		t.goOn(p, r.old, rest)
		return
	}
	if commonPrefix(old, r.seen) >= min(sameBeginning, len(old)) {
		t.supersede(r.old)
	}
	t.emitDelta(p, r.seen)
}

// goOn continues the old part if it is still open, else in a part of its own.
func (t *turn) goOn(p, old *part, rest string) {
	if old.closed {
		t.emitDelta(p, rest)
		return
	}
	for k, o := range t.parts {
		if o == p {
			t.parts[k] = old
		}
	}
	t.emitDelta(old, rest)
}

// supersede marks what an earlier try had said. A part that ended already gets
// a second whole, which carries the mark.
func (t *turn) supersede(old *part) {
	if old.id == "" {
		return
	}
	text := old.text.String()
	if i := slices.Index(t.final, text); i >= 0 {
		t.final = slices.Delete(t.final, i, i+1)
	}
	t.open = slices.DeleteFunc(t.open, func(o *part) bool { return o == old })
	old.closed = true
	t.putWhole(old, "", true)
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
