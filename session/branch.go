package session

import (
	"slices"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// branch is the line of messages that a session's history shows: what was taken
// back by a rewind is not in it.
type branch struct {
	messages []message
	answers  int             // that ever began, also those that were taken back
	gone     map[string]bool // turns that were taken back
}

// message is a message of the branch.
type message struct {
	id   string
	turn string
	user bool
	by   string // whose it is, for a user's
	// after is a record number before the message's turn began.
	after uint64
	// resume is where the agent stood when it began to answer, if that was recalled,
	// and nth says how many answers had begun by then, in whatever order the branch
	// shows them.
	resume   string
	recalled bool
	nth      int
}

func (b *branch) find(id string) int {
	return slices.IndexFunc(b.messages, func(m message) bool { return m.id == id })
}

// add appends a message, behind those of its turn if there are any: while that
// waited, in the queue or for its user, others may have been taken.
func (b *branch) add(m message) {
	if !m.user {
		b.answers++
		m.nth = b.answers
	}
	at := len(b.messages)
	for i := at; i > 0; i-- {
		if b.messages[i-1].turn == m.turn {
			at = i
			break
		}
	}
	b.messages = slices.Insert(b.messages, at, m)
}

// cut takes back the message and all that follows.
func (b *branch) cut(id string) {
	i := b.find(id)
	if i < 0 {
		return
	}
	if b.gone == nil {
		b.gone = map[string]bool{}
	}
	for _, m := range b.messages[i:] {
		b.gone[m.turn] = true
	}
	b.messages = slices.Delete(b.messages, i, len(b.messages))
}

// observe takes over what a mark says of the branch.
func (b *branch) observe(m eventlog.MessageMark) {
	switch m.Kind { //nolint:exhaustive // only these leave marks
	case trace.KindRewind:
		b.cut(m.Message)
	case trace.KindPrompt:
		b.add(message{id: m.Message, turn: m.Turn, user: true, by: m.By, after: m.Seq - 1})
	case trace.KindReply:
		if !b.gone[m.Turn] { // a turn may be taken back just as its answer begins
			b.add(message{id: m.Message, turn: m.Turn, after: m.Seq - 1})
		}
	}
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
