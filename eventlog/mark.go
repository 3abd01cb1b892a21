package eventlog

import "github.com/tributary-dev/tributary/trace"

// This file has the positions of turns and messages.

// TurnMark is where a turn begins and, once it is over, ends.
type TurnMark struct {
	Turn  string
	First uint64
	// Last is the number of its stop record, or 0 while it has none.
	Last uint64
}

// MessageMark is a record that says which messages a session has, without what they say: a
// prompt, a reply, or a rewind. A step to which the agent gives an id of its own is one, too:
// clients may call a message by such an id. So is a score, which belongs to an answer.
type MessageMark struct {
	Kind trace.Kind
	Seq  uint64
	Turn string
	// Message is the id of the message that begins, or that is gone back to, or the agent's
	// own id of the step, or the id of the data that is the score.
	Message string
	// By is whose prompt it is.
	By string
}

// MarkOf is the mark that a record leaves, if it is one of those.
func MarkOf(r trace.Record) (m MessageMark, ok bool) {
	m = MessageMark{Kind: r.Payload.Kind(), Seq: r.Seq, Turn: r.Turn}
	if p, is := r.Payload.(trace.Prompt); is {
		m.Message, m.By, ok = p.Message.ID, p.By, true
	}
	if p, is := r.Payload.(trace.Reply); is {
		m.Message, ok = p.MessageID, true
	}
	if p, is := r.Payload.(trace.Rewind); is {
		m.Message, ok = p.To, true
	}
	if p, is := r.Payload.(trace.Step); is && p.NativeID != "" {
		m.Message, ok = p.NativeID, true
	}
	if p, is := r.Payload.(trace.Data); is {
		if _, is := p.Score(); is {
			m.Message, ok = p.ID, true
		}
	}
	return m, ok
}
