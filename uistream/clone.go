package uistream

import (
	"maps"
	"slices"
)

// This file copies the state of a translation.

// clone returns a Translator that goes on from here and shares nothing that changes: the
// state in which a subscriber that has fallen behind reads on from the log.
func (t *Translator) clone() translation { return t.copy() }

func (t *Translator) copy() *Translator {
	parts, calls, questions := copies[part]{}, copies[call]{}, copies[question]{}
	approvals, subagents := copies[approval]{}, copies[subagent]{}
	c := *t
	c.out = nil
	c.parts, c.open = parts.named(t.parts), parts.list(t.open)
	c.calls, c.order, c.stepCalls = calls.named(t.calls), calls.list(t.order), calls.list(t.stepCalls)
	c.approvals, c.subs = approvals.named(t.approvals), subagents.named(t.subs)
	c.questions, c.questioned = questions.named(t.questions), questions.list(t.questioned)
	for _, own := range approvals {
		own.call = calls.of(own.call)
	}
	for _, own := range calls {
		own.text = slices.Clone(own.text)
	}
	c.waits, c.held = maps.Clone(t.waits), slices.Clone(t.held)
	c.participants = slices.Clone(t.participants)
	c.further, c.asks = maps.Clone(t.further), maps.Clone(t.asks)
	c.automated, c.unusable = maps.Clone(t.automated), maps.Clone(t.unusable)
	return &c
}

// size is about how many bytes a copy has beside what it shares.
func (t *Translator) size() int {
	const each = 400 // of a call, the largest, with its place in a map and in two lists
	n := len(t.parts) + len(t.calls) + len(t.approvals) + len(t.subs) + len(t.questions) + len(t.participants)
	return each * (n + len(t.waits) + len(t.further) + len(t.asks) + len(t.automated) + len(t.unusable))
}

// copies has one copy of each original, so that two pointers to the same thing still point
// to the same thing.
type copies[T any] map[*T]*T

func (m copies[T]) of(original *T) *T {
	if original == nil {
		return nil
	}
	if m[original] == nil {
		c := *original
		m[original] = &c
	}
	return m[original]
}

func (m copies[T]) named(originals map[string]*T) map[string]*T {
	all := make(map[string]*T, len(originals))
	for name, original := range originals {
		all[name] = m.of(original)
	}
	return all
}

func (m copies[T]) list(originals []*T) []*T {
	all := make([]*T, 0, len(originals))
	for _, original := range originals {
		all = append(all, m.of(original))
	}
	return all
}
