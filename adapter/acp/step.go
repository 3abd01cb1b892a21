package acp

// This file finds the steps of a turn: the calls of the model. The protocol does not tell them.

// step is what is known of the open step. Where nothing else tells its end, the Builder ends it: see
// [trace.Builder.StepAfterResults].
type step struct {
	over bool // the agent has counted the call of the model
	// The agent's ids of the newest text and of the newest reasoning, since the newest word of a call.
	message, thought string
	// shared says that text and reasoning of this turn have the same ids. Then a new id of reasoning
	// is a new call of the model, too. Other agents give each part of reasoning an id of its own.
	shared bool
}

// text ends the step if a text, or reasoning, belongs to the next call of the model: the one before
// was counted, or the agent's id of the message is another one and no call of a tool runs.
func (c *turn) text(by *speaker, thought bool, id string) {
	s := &c.step
	if by.b != c.b {
		return // a sub-agent's calls of the model are no steps
	}
	if s.over || s.message != "" && id != "" && id != s.message && (!thought || s.shared) && !c.runs() {
		c.endStep()
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

// tool ends the step if the model writes a call of a tool although the step was counted.
func (c *turn) tool(s *speaker, beside meta) {
	if s.b == c.b && c.step.over && beside.Phase == "preparing" {
		c.endStep()
	}
}

func (c *turn) endStep() {
	c.b.StepEnd()
	c.step = step{shared: c.step.shared}
}

// runs reports whether a call of the agent's own has no result.
func (c *turn) runs() bool {
	for _, tc := range c.calls {
		if tc.b == c.b && !tc.done {
			return true
		}
	}
	return false
}
