package acp

import "slices"

// This file finds the steps of a turn: the calls of the model. The protocol does not tell them.

// step is what is known of the open step.
type step struct {
	over  bool    // the agent has counted the call of the model
	calls []*call // of the agent's own
	// The agent's ids of the newest text and of the newest reasoning, in the step.
	message, thought string
	// shared says that text and reasoning of this turn have the same ids. Then a new id of reasoning
	// is a new call of the model, too. Other agents give each part of reasoning an id of its own.
	shared bool
}

// text ends the step if a text, or reasoning, belongs to the next call of the model. It does if the one
// before was counted, or if the agent's id of the message is another one and no call of a tool runs. The Builder
// ends a step whose calls have their results: see [trace.Builder.StepAfterResults].
func (c *turn) text(by *speaker, thought bool, id string) {
	s := &c.step
	switch {
	case by.b != c.b:
		return // a sub-agent's calls of the model are no steps
	case s.over, s.message != "" && id != "" && id != s.message && (!thought || s.shared) && !s.runs():
		c.endStep()
	case len(s.calls) > 0 && !slices.ContainsFunc(s.calls, func(tc *call) bool { return !tc.done && !tc.denied }):
		*s = step{shared: s.shared}
	}
	if thought {
		s.thought = id
	} else {
		s.shared = s.shared || id != "" && id == s.thought
	}
	if !thought || s.shared {
		s.message = id
	}
}

// tool adds a call to the step, or to the next one if the model writes the call although its step
// was counted.
func (c *turn) tool(tc *call, beside meta) {
	if tc.b != c.b {
		return
	}
	if c.step.over && beside.Phase == "preparing" {
		c.endStep()
	}
	c.step.calls = append(c.step.calls, tc)
}

// measured ends the step if each of its calls of a tool has a result: Claude Code measures the context as
// a call of the model begins, and as the call ends.
func (c *turn) measured() {
	if len(c.step.calls) > 0 && !c.step.runs() {
		c.endStep()
	}
}

func (c *turn) endStep() {
	c.b.StepEnd()
	c.step = step{shared: c.step.shared}
}

// runs reports whether a call of the step has no result.
func (s *step) runs() bool {
	return slices.ContainsFunc(s.calls, func(tc *call) bool { return !tc.done })
}
