package trace

// This file writes events that have no method of their own.

// Emit writes an event that has no method of its own. Payloads that the grammar
// governs go the way of their method. Data gets the name of [AgentDataName].
func (b *Builder) Emit(p Payload) {
	switch p := p.(type) {
	case Prompt, Reply, Rewind:
		b.EmitTogether(p)
	case MessageStart, ThoughtStart: // a part opens with its first text
	case Pause: // comes with what is asked
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
		b.PermissionRequest(p, ToolCall{})
	case PermissionResponse:
		b.PermissionResponse(p)
	case Question:
		b.Question(p)
	case Answer:
		b.Answer(p)
	case Step:
		if p.Phase == PhaseStart {
			b.StepStart(p)
		} else {
			b.StepEnd()
		}
	case Stop:
		b.End(p)
	case Data:
		p.Name = AgentDataName(p.Name)
		b.EmitOwn(p)
	case Source, File:
		b.emit(p, true)
	case FileChange:
		b.fileChange(p.normalized())
	case Usage:
		b.emit(p.normalized(), false)
	case Plan:
		b.emit(p.normalized(), false)
	case Status:
		b.emit(p.normalized(), false)
	case Error:
		b.emit(p.cut(), false)
	case Unknown:
		if u, still := p.normalized().(Unknown); still {
			b.emit(u, false)
		} else {
			b.Emit(p.normalized())
		}
	}
}

// EmitTogether writes rewinds, prompts and replies in one append.
func (b *Builder) EmitTogether(payloads ...Payload) {
	b.do(func(t *turn) { t.putTogether(payloads...) })
}

func (t *turn) putTogether(payloads ...Payload) {
	for _, p := range payloads {
		switch p := p.(type) { //nolint:gochecksumtype // the others have no place between messages
		case Prompt:
			t.put("", User, p.normalized())
		case Reply:
			t.closeStep(true)
			t.put("", Gateway, p)
		case Rewind, Data:
			t.put("", Gateway, p)
		}
	}
}

// emit says whether the payload is written.
func (b *Builder) emit(p Payload, visible bool) (written bool) {
	b.do(func(t *turn) {
		if !t.fits(p) {
			return
		}
		by := b.author(t)
		if visible {
			t.ensureStep(by)
		}
		t.emitAs(by, p)
		written = true
	})
	return written
}

// fileChange writes a change with the unique id of its call.
func (b *Builder) fileChange(p FileChange) {
	b.do(func(t *turn) {
		if c, ok := t.calls[p.ToolCallID]; ok && p.ToolCallID != "" {
			p.ToolCallID = c.tool.ToolCallID
		}
		if t.fits(p) {
			t.emitAs(b.author(t), p)
		}
	})
}
