package session

import (
	"slices"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// branch is the line of messages that a session's history shows, without the
// messages that a rewind removed.
type branch struct {
	messages []message
	of       map[string]int  // how many of them a turn has
	answers  int             // that ever began, also those that were removed
	gone     map[string]bool // turns that were removed
	// short has the turns of which only the beginning is left, with the first message that
	// was removed. A typed answer to a turn's question begins a message of the turn.
	short map[string]string
	// changes counts what was added and cut.
	changes int
}

// message is a message of the branch.
type message struct {
	id   string
	turn string
	user bool
	by   string // whose it is, for a user's
	// after is a record number before the message's turn began.
	after uint64
	// resume is the agent's place when the agent began to answer, if the place was
	// recalled. By then nth answers had begun, in any order of the branch.
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
	b.changes++
	if !m.user {
		b.answers++
		m.nth = b.answers
	}
	at := len(b.messages)
	for b.of[m.turn] > 0 && b.messages[at-1].turn != m.turn {
		at--
	}
	b.messages = slices.Insert(b.messages, at, m)
	if b.of == nil {
		b.of = map[string]int{}
	}
	b.of[m.turn]++
}

// cut removes the message and all that follows.
func (b *branch) cut(id string) {
	i := b.find(id)
	if i < 0 {
		return
	}
	b.changes++
	if b.gone == nil {
		b.gone = map[string]bool{}
	}
	for _, m := range b.messages[i:] {
		b.gone[m.turn] = true
		if b.of[m.turn]--; b.of[m.turn] == 0 {
			delete(b.of, m.turn)
		}
	}
	if turn := b.messages[i].turn; i > 0 && b.messages[i-1].turn == turn {
		if b.short == nil {
			b.short = map[string]string{}
		}
		b.short[turn] = id
	}
	b.messages = slices.Delete(b.messages, i, len(b.messages))
}

// observe takes over what a mark says of the branch.
func (b *branch) observe(m eventlog.MessageMark) {
	switch m.Kind { //nolint:exhaustive // only these leave marks
	case trace.KindRewind:
		b.cut(m.Message)
	case trace.KindPrompt, trace.KindReply:
		if b.gone[m.Turn] { // a turn may be taken back just as a message of it begins
			return
		}
		b.add(message{id: m.Message, turn: m.Turn, user: m.Kind == trace.KindPrompt, by: m.By, after: m.Seq - 1})
	}
}

// unrecorded is what open turns have done to a branch. The log may have these changes
// already, or get them soon.
type unrecorded struct {
	cuts     []cut
	messages []message
}

// cut names the messages that a turn removes.
type cut struct{ turn, to string }

// catchUp does what the log did not know yet.
func (b *branch) catchUp(u unrecorded) {
	for _, c := range u.cuts {
		if i := b.find(c.to); i >= 0 && b.messages[i].turn != c.turn { // an edit has the id of what it takes back
			b.cut(c.to)
		}
	}
	for _, m := range u.messages {
		if !b.gone[m.turn] && !slices.ContainsFunc(b.messages, func(o message) bool { return o.id == m.id && o.user == m.user }) {
			b.add(m)
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

// stretch is what the branch holds of a turn.
type stretch struct {
	turn  string
	after uint64 // a record number before it
	to    string // the first message of the turn that was taken back, if not all of it was
}

// turns lists the turns of the branch in order.
func (b *branch) turns() []stretch {
	var turns []stretch
	for _, m := range b.messages {
		if len(turns) == 0 || turns[len(turns)-1].turn != m.turn {
			turns = append(turns, stretch{turn: m.turn, after: m.after, to: b.short[m.turn]})
		}
	}
	return turns
}
