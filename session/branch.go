package session

import (
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// branch is the line of messages that a session's history shows: what was taken
// back by a rewind is not in it.
type branch struct {
	messages []message
	answers  int // that ever began, also those that were taken back
}

// message is a message of the branch.
type message struct {
	id   string
	turn string
	user bool
	by   string // whose it is, for a user's
	// after is a record number before the message's turn began.
	after uint64
	// resume is where the agent stood when it began to answer, and nth says how
	// many answers had begun by then, in whatever order the branch shows them.
	resume string
	nth    int
}

func (b *branch) find(id string) int {
	return slices.IndexFunc(b.messages, func(m message) bool { return m.id == id })
}

// add appends a message. An answer goes behind the prompt of its turn: while that
// waited in the queue, others may have been taken.
func (b *branch) add(m message) {
	at := len(b.messages)
	if !m.user {
		b.answers++
		m.nth = b.answers
		for i := at; i > 0; i-- {
			if b.messages[i-1].turn == m.turn {
				at = i
				break
			}
		}
	}
	b.messages = slices.Insert(b.messages, at, m)
}

// cut takes back the message and all that follows.
func (b *branch) cut(id string) {
	if i := b.find(id); i >= 0 {
		b.messages = slices.Delete(b.messages, i, len(b.messages))
	}
}

// observe takes over what a record says of the branch.
func (b *branch) observe(r trace.Record) {
	if p, is := r.Payload.(trace.Rewind); is {
		b.cut(p.To)
	}
	if p, is := r.Payload.(trace.Prompt); is {
		b.add(message{id: p.Message.ID, turn: r.Turn, user: true, by: p.By, after: r.Seq - 1})
	}
	// A turn may be taken back just as its answer begins.
	if p, is := r.Payload.(trace.Reply); is && (p.Cause == trace.CauseAgent || b.holds(r.Turn)) {
		b.add(message{id: p.MessageID, turn: r.Turn, after: r.Seq - 1, resume: p.Resume})
	}
}

func (b *branch) holds(turn string) bool {
	for _, m := range slices.Backward(b.messages) { // it is one of the newest
		if m.turn == turn {
			return true
		}
	}
	return false
}

// target is the user message that a regeneration of the message named runs
// again: itself, or the one before the assistant's. An empty name means the
// last one.
func (b *branch) target(id string) (message, bool) {
	i := len(b.messages) - 1
	if id != "" {
		i = b.find(id)
	}
	for ; i >= 0; i-- {
		if b.messages[i].user {
			return b.messages[i], true
		}
	}
	return message{}, false
}

// turns lists the turns of the branch in order.
func (b *branch) turns() []message {
	var turns []message
	for _, m := range b.messages {
		if len(turns) == 0 || turns[len(turns)-1].turn != m.turn {
			turns = append(turns, m)
		}
	}
	return turns
}
