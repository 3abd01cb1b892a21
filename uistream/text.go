package uistream

import (
	"github.com/tributary-dev/tributary/trace"
)

// This file translates text and reasoning.

// part is a part of text or reasoning.
type part struct {
	id      string
	thought bool
	open    bool
	ended   bool // its whole has come
	foreign bool // not the agent's words
	sent    int  // bytes of text the client has
	hash    uint64
}

func (t *Translator) part(id string, thought bool) *part {
	if n := len(t.open); n > 0 && t.open[n-1].id == id && t.open[n-1].thought == thought { // as a rule
		return t.open[n-1]
	}
	key := "text\x00" + id
	if thought {
		key = "thought\x00" + id
	}
	p, ok := t.parts[key]
	if !ok {
		p = &part{id: id, thought: thought, hash: fnvOffset}
		put(&t.parts, key, p)
	}
	return p
}

func (t *Translator) partStart(id string, thought bool, role trace.Role) {
	p := t.part(id, thought)
	if role != trace.RoleAssistant && role != "" {
		p.foreign = true
		return
	}
	if !p.ended {
		t.openPart(p)
	}
}

func (t *Translator) partDelta(id, delta string, thought bool) {
	p := t.part(id, thought)
	if p.ended || p.foreign || delta == "" {
		return
	}
	t.openPart(p)
	t.grow(p, delta)
}

// fullPart sends what the deltas lacked and ends the part. If the whole
// contradicts the deltas, the deltas count: the stream never removes text that a
// client has seen.
func (t *Translator) fullPart(id, text string, thought bool, role trace.Role) {
	p := t.part(id, thought)
	if p.ended || p.foreign || role == trace.RoleUser || role == trace.RoleSystem {
		return
	}
	if len(text) > p.sent && fnv(fnvOffset, text[:p.sent]) == p.hash {
		t.openPart(p)
		t.grow(p, text[p.sent:])
	} else if p.sent == 0 {
		t.openPart(p)
	}
	t.closePart(p)
	p.ended = true
}

func (t *Translator) openPart(p *part) {
	if p.open {
		return
	}
	t.needStep()
	p.open = true
	t.open = append(t.open, p)
	if p.thought {
		t.emit(ReasoningStart{ID: p.id})
	} else {
		t.emit(TextStart{ID: p.id})
	}
}

func (t *Translator) grow(p *part, delta string) {
	p.sent += len(delta)
	p.hash = fnv(p.hash, delta)
	if p.thought {
		t.emit(ReasoningDelta{ID: p.id, Delta: delta})
	} else {
		t.emit(TextDelta{ID: p.id, Delta: delta})
	}
}

func (t *Translator) closePart(p *part) {
	if !p.open {
		return
	}
	p.open = false
	if p.thought {
		t.emit(ReasoningEnd{ID: p.id})
	} else {
		t.emit(TextEnd{ID: p.id})
	}
}

func (t *Translator) closeParts() {
	for _, p := range t.open {
		t.closePart(p)
	}
	t.open = nil
}

// sayRequest writes a text part of our own, which says what a request asks. The text is for
// pages that have no buttons: those of clients whose protocol has no approvals, and of the RFC.
// Another client would show the words beside its buttons, and keep them when all is answered.
func (t *Translator) sayRequest(request, text string) {
	t.needStep()
	if t.can.approvals && !t.options.RFC {
		return
	}
	id := "ask-" + request
	start := Chunk(TextStart{ID: id})
	if t.can.textFacts {
		start = noted(start, nil, textFacts{request})
	}
	t.emit(start, TextDelta{ID: id, Delta: text}, TextEnd{ID: id})
}

// The running hash (FNV-1a) of what was sent tells whether a whole extends it,
// without keeping the text.
const (
	fnvOffset uint64 = 14695981039346656037
	fnvPrime  uint64 = 1099511628211
)

func fnv(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h
}
