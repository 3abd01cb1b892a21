package trace

import "fmt"

// This file begins and ends steps, and ends turns.

// StepStart begins a step, which brackets one model call of the agent, and ends the
// step before. An empty step is not on record, unless it has a native id. A native
// id means that the agent itself has announced the step, so the step is on record
// at once, also if it stays empty.
func (b *Builder) StepStart(s Step) {
	b.do(func(t *turn) {
		if b.within != "" {
			return // a sub-agent's steps are its own affair
		}
		if t.stepOpen && s.NativeID != "" && s.NativeID == t.step.NativeID {
			return // it is said again, by an agent whose turn was taken up again
		}
		t.closeRefused(author{})
		t.closeStep(false)
		t.step = Step{Name: s.Name, NativeID: s.NativeID}
		if s.NativeID != "" {
			t.openStep()
		}
	})
}

// StepFinish says why the model stopped writing in this step, in the agent's own word. The step
// goes on until it ends.
func (b *Builder) StepFinish(word string) {
	b.do(func(t *turn) {
		if b.within == "" && t.stepOpen {
			t.step.Finish = word
		}
	})
}

// StepEnd ends the step and the parts that are open in it. Calls may stay open.
func (b *Builder) StepEnd() {
	b.do(func(t *turn) {
		if b.within == "" {
			t.closeStep(false)
		}
	})
}

// StepAfterResults begins a new step by itself when the agent goes on with text or reasoning after
// every call of the step has a result. It is for an agent that does not say where a model call
// ends: what follows the results is an answer to them, and so another call.
func (b *Builder) StepAfterResults() {
	t := b.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stepAfterResults = true
}

// answered reports whether the open step has calls, and each of them its result.
func (t *turn) answered() bool {
	calls := 0
	for _, c := range t.order[min(t.stepCalls, len(t.order)):] {
		if c.by.subagent() {
			continue
		}
		if calls++; !c.done {
			return false
		}
	}
	return calls > 0
}

// ensureStep opens a step before anything that belongs into one.
func (t *turn) ensureStep(by author) {
	if !t.stepOpen && !by.subagent() {
		t.openStep()
	}
}

func (t *turn) openStep() {
	t.stepOpen, t.stepCalls = true, len(t.order)
	t.steps++
	t.put("", Agent, Step{Phase: PhaseStart, Name: t.step.Name, NativeID: t.step.NativeID})
}

// closeStep ends the step and its parts. With subagents it ends the parts of
// sub-agents too: they may outlive a step, but not a message, a pause or the turn.
func (t *turn) closeStep(subagents bool) {
	t.closeParts(subagents, false)
	if t.stepOpen {
		t.stepOpen = false
		t.put("", Agent, Step{Phase: PhaseEnd, Name: t.step.Name, Finish: t.step.Finish})
	}
	t.step = Step{}
}

// Finish closes everything that is open and writes the stop, the last record of
// the turn, once. It returns when all is on record; a second call waits and
// returns the same. An empty FinalOutput becomes the text of the last step.
func (b *Builder) Finish(s Stop) error {
	b.Close(s)
	t := b.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.end()
	t.drop()
	return err
}

// drop frees the agent's output that the turn held. The answers to requests stay known.
func (t *turn) drop() {
	t.release()
	t.parts, t.calls, t.subs, t.callNames, t.requestNames = nil, nil, nil, nil, nil
	t.open, t.order, t.inOrder, t.refused, t.printing, t.subsInOrder, t.final = nil, nil, nil, nil, nil, nil, nil
	t.freeList = nil
	for _, q := range t.requests {
		q.Asked, q.options, q.toolCall = nil, nil, nil
	}
}

// Close is Finish without the wait for the log. Nothing that the agent writes after Close
// is on record.
func (b *Builder) Close(s Stop) {
	t := b.turn
	t.announce(t.close(s))
}

func (t *turn) close(s Stop) *changes {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done {
		return nil
	}
	c := t.write(func(t *turn) { t.finish(s.cut().normalized()) })
	t.done = true
	t.cond.Broadcast()
	return c
}

// Detach ends the writing without a stop, for a turn that goes on where its agent
// lives: [Restore] takes it up again. It returns when what was written is on record;
// what is written later is dropped.
func (b *Builder) Detach() error {
	t := b.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done = true
	t.release()
	t.cond.Broadcast()
	return t.end()
}

func (t *turn) finish(s Stop) {
	t.queuedRequests = nil // no user is asked any more
	t.closeParts(true, true)
	for _, q := range t.inOrder {
		t.cancelRequest(q)
	}
	for _, c := range t.order {
		switch {
		case c.done:
		case c.refused != "":
			t.deny(c)
		default:
			t.result(c, ToolResult{Status: ToolCanceled, Error: unfinished(s)})
		}
	}
	t.endSubs(s.Outcome)
	t.closeStep(true)
	if s.FinalOutput == "" {
		s.FinalOutput = t.finalOutput()
	}
	if len(s.FinalOutput) > t.MaxEvent+len(cutMark) { // several texts
		s.FinalOutput = t.cutText(s.FinalOutput)
	}
	t.put("", Gateway, s)
}

// unfinished says why a call has no result, for the user.
func unfinished(s Stop) string {
	switch {
	case s.Outcome == OutcomeCanceled:
		return "Not finished: the turn was stopped."
	case s.Outcome == OutcomeFailed && s.Reason != "":
		return fmt.Sprintf("Not finished: the turn failed (%s).", s.Reason)
	case s.Outcome == OutcomeFailed:
		return "Not finished: the turn failed."
	default:
		return "Not finished: the agent ended its turn without a result."
	}
}
