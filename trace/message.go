package trace

// This file takes the text and the reasoning of an agent.

// MessageDelta adds text to the part with that key, and opens it if need be.
func (b *Builder) MessageDelta(key, delta string) {
	b.do(func(t *turn) { t.grow(b.part(t, key, false), delta) })
}

// MessageSnapshot gives the text of a part so far. New text becomes a delta; a
// snapshot that contradicts the deltas is counted and dropped.
func (b *Builder) MessageSnapshot(key, text string) {
	b.do(func(t *turn) { b.snapshot(t, key, text, false) })
}

// Message gives the whole text of a part and ends it. A whole of a part that has
// already ended with this text is a repetition and is dropped. A whole that goes on
// from there becomes a part with the missing text. Any other whole is a new part
// under the same key.
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
	b.do(func(t *turn) { b.snapshot(t, key, text, true) })
}

// Thought gives the whole of a reasoning part and ends it.
func (b *Builder) Thought(key, text, signature string) {
	b.do(func(t *turn) { b.whole(t, key, text, signature, true) })
}

// ThoughtEnd ends a reasoning part with what was streamed.
func (b *Builder) ThoughtEnd(key, signature string) {
	b.do(func(t *turn) { b.end(t, key, signature, true) })
}

// MessageRepeats says that the part with the new key, which has not begun, is a
// retry of an earlier one. The Builder writes nothing while the text repeats. If
// the text goes on, so does the message. If the text differs, it becomes a part of
// its own, and the old part is marked as superseded. A retry that repeats nothing
// from its beginning is taken for one that went on where the earlier one was cut
// off.
func (b *Builder) MessageRepeats(key, earlier string) {
	b.do(func(t *turn) { b.repeats(t, key, earlier, false) })
}

// ThoughtRepeats is MessageRepeats for reasoning.
func (b *Builder) ThoughtRepeats(key, earlier string) {
	b.do(func(t *turn) { b.repeats(t, key, earlier, true) })
}

// MessageReplace says a text in the place of a message that the agent has taken back. What the agent has said
// under the key is marked as superseded. Without such a message, MessageReplace is [Builder.Message].
func (b *Builder) MessageReplace(key, text string) {
	b.do(func(t *turn) {
		if old := b.lookup(t, key, false); old != nil && old.id != "" && old.said() != text {
			t.supersede(newRetry(old.newest()), b.newPart(t, key, false))
		}
		b.whole(t, key, text, "", false)
	})
}

func (b *Builder) snapshot(t *turn, key, text string, thought bool) {
	clean, half := splitPartialRune(text)
	p := b.partFor(t, key, clean, half, thought)
	if p == nil {
		return
	}
	if rest, ok := p.missingSuffix(clean); ok {
		t.reconcile(p, rest, half)
		return
	}
	t.countConflict(p, clean, true)
}

func (b *Builder) whole(t *turn, key, text, signature string, thought bool) {
	clean, half := splitPartialRune(text)
	if half != "" {
		clean += lostRune
	}
	p := b.partFor(t, key, clean, "", thought)
	if p == nil {
		return
	}
	if rest, ok := p.missingSuffix(clean); ok {
		p.partialRune = "" // whether the other half came or not, the whole has the last word
		t.reconcile(p, rest, "")
	} else {
		t.countConflict(p, clean, false)
	}
	t.closePart(p.resolve(), signature)
}

func (b *Builder) end(t *turn, key, signature string, thought bool) {
	if p := b.lookup(t, key, thought); p != nil && !p.closed {
		t.closePart(p, signature)
	}
}
