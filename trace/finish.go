package trace

import (
	"fmt"
	"strings"
)

// StepStart begins a step, which brackets one model call of the agent. It ends
// the step before. A step in which nothing happens leaves no trace.
func (b *Builder) StepStart(name string) {
	b.do(func(t *turn) {
		if b.within != "" {
			return // a sub-agent's steps are its own affair
		}
		t.closeStep()
		t.stepName = name
	})
}

// StepEnd ends the step and the parts that are open in it. Calls may stay open.
func (b *Builder) StepEnd() {
	b.do(func(t *turn) {
		if b.within == "" {
			t.closeStep()
		}
	})
}

// ensureStep opens a step before anything that belongs into one.
func (b *Builder) ensureStep(t *turn) {
	if t.stepOpen || b.within != "" {
		return
	}
	t.stepOpen = true
	t.steps++
	t.put("", Agent, Step{Phase: PhaseStart, Name: t.stepName})
}

func (t *turn) closeStep() {
	for _, p := range append([]*part(nil), t.open...) {
		if p.by.within == "" {
			t.closePart(p, "")
		}
	}
	if !t.stepOpen {
		return
	}
	t.stepOpen = false
	t.put("", Agent, Step{Phase: PhaseEnd, Name: t.stepName})
	t.stepName = ""
}

// Emit writes an event that has no method of its own. Payloads that the grammar
// governs go the way of their method.
func (b *Builder) Emit(p Payload) {
	switch p := p.(type) {
	case Prompt:
		b.do(func(t *turn) { t.put("", User, p) })
	case Reply:
		b.do(func(t *turn) { t.closeStep(); t.put("", Gateway, p) })
	case Rewind:
		b.do(func(t *turn) { t.put("", Gateway, p) })
	case MessageStart, ThoughtStart: // a part opens with its first text
	case MessageDelta:
		b.MessageDelta(p.Part, p.Delta)
	case Message:
		b.Message(p.Part, p.Text)
	case ThoughtDelta:
		b.ThoughtDelta(p.Part, p.Delta)
	case Thought:
		b.Thought(p.Part, p.Text, p.Signature)
	case ToolCallStart:
		b.ToolCallStart(p)
	case ToolCallDelta:
		b.ToolCallDelta(p.ToolCallID, p.Delta)
	case ToolCall:
		b.ToolCall(p)
	case ToolResultProgress:
		b.ToolResultProgress(p.ToolCallID, p.Output)
	case ToolResult:
		b.ToolResult(p)
	case PermissionRequest:
		b.PermissionRequest(p)
	case PermissionResponse:
		b.PermissionResponse(p)
	case Question:
		b.Question(p)
	case Answer:
		b.Answer(p)
	case Park:
		b.Park(p.Requests...)
	case Step:
		if p.Phase == PhaseStart {
			b.StepStart(p.Name)
		} else {
			b.StepEnd()
		}
	case Stop:
		b.End(p)
	case Data:
		p.Value = Opaque(p.Value)
		b.emit(p, !p.Transient)
	case Source, File:
		b.emit(p, true)
	case Usage, Plan, FileChange, Error, Status, Unknown:
		b.emit(p, false)
	}
}

func (b *Builder) emit(p Payload, visible bool) {
	b.do(func(t *turn) {
		if visible {
			b.ensureStep(t)
		}
		b.say(t, p)
	})
}

// Finish closes everything that is open and writes the stop, the last record of
// the turn, once. It returns when all is on record; a second call waits and
// returns the same. An empty FinalOutput becomes the text of the last step.
func (b *Builder) Finish(s Stop) error {
	t := b.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.done {
		t.finish(s)
		t.done = true
		t.cond().Broadcast()
	}
	return t.drain()
}

func (t *turn) finish(s Stop) {
	for _, p := range append([]*part(nil), t.open...) {
		t.closePart(p, "")
	}
	for _, q := range t.asked {
		t.closeAsk(q)
	}
	for _, c := range t.order {
		if !c.done {
			t.result(c, ToolResult{Status: ToolCanceled, Error: unfinished(s)})
		}
	}
	t.closeStep()
	if s.FinalOutput == "" {
		s.FinalOutput = strings.Join(t.final, "\n\n")
	}
	t.put("", Gateway, s)
}

// unfinished says why a call has no result, for the user.
func unfinished(s Stop) string {
	switch s.Outcome {
	case OutcomeCanceled:
		return "Not finished: the turn was stopped."
	case OutcomeFailed:
		return fmt.Sprintf("Not finished: the turn failed (%s).", s.Reason)
	default:
		return "Not finished: the agent ended its turn without a result."
	}
}

func partID(thought bool, n int) string {
	if thought {
		return fmt.Sprintf("thought-%d", n)
	}
	return fmt.Sprintf("text-%d", n)
}
