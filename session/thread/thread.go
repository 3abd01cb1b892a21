// Package thread is the projection of a session's durable records. A Thread has the
// messages, the turns, the points to which the agent can go back, and the agent's own ids. A
// session folds its records once, when it is loaded, and then adds each change.
// A Thread does no I/O. Its owner guards it with a lock.
package thread

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// Thread is the line of messages that a session's history shows, without the messages that
// a rewind removed. The zero Thread is empty.
type Thread struct {
	// Messages are in the order in which history shows them. Only the methods change them.
	Messages []Message
	// Changes counts what was added and removed.
	Changes int

	of      map[string]int // how many messages a turn has
	places  map[string]int // the place of a message, by its id
	answers int            // answers that ever began, also those that were removed
	removed map[string]bool
	// cutAt has the turns of which only the beginning is left, with the first message that
	// was removed. A typed answer to a turn's question begins a message of the turn.
	cutAt map[string]string
	// prompts are the prompts on record by the id of their message. An edited message has
	// several.
	prompts map[string][]Prompt
	scores  map[string]uint64 // where each score is on record, by the id of its data
	// layouts are those of the turns that were read or are open.
	layouts map[string]*Layout
	// Names are the agent's own ids.
	Names Names
}

// Message is a message of the thread.
type Message struct {
	ID   string
	Turn string
	User bool
	By   string // the user, for a message of a user
	// After is a record number before the message's turn began.
	After uint64
	// Resume is the agent's place when it began to answer, if the place is Known.
	Resume string
	Known  bool
	nth    int // the number of the answer among all that began, in any order of the thread
}

// Prompt is where a version of a message of a user is on record.
type Prompt struct {
	Seq  uint64
	Turn string
}

// Span is what the thread holds of a turn.
type Span struct {
	Turn  string
	After uint64 // a record number before the turn
	To    string // the first message of the turn that was removed, if not all of it was
}

// setInMap sets a value in a map that is nil while it is empty.
func setInMap[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// Find returns the place of a message, or -1.
func (t *Thread) Find(id string) int {
	if i, ok := t.places[id]; ok {
		return i
	}
	return -1
}

// index notes the places of the messages from i on. The first of several with one id counts.
func (t *Thread) index(from int) {
	for i, m := range slices.Backward(t.Messages[from:]) {
		if first, known := t.places[m.ID]; !known || first >= from {
			setInMap(&t.places, m.ID, from+i)
		}
	}
}

// Removed reports whether a rewind has removed messages of the turn.
func (t *Thread) Removed(turn string) bool { return t.removed[turn] }

// Add appends a message, behind those of its turn if there are any: other messages may
// have come while that turn waited.
func (t *Thread) Add(m Message) {
	t.Changes++
	if !m.User {
		t.answers++
		m.nth = t.answers
	}
	at := len(t.Messages)
	for t.of[m.Turn] > 0 && t.Messages[at-1].Turn != m.Turn {
		at--
	}
	t.Messages = slices.Insert(t.Messages, at, m)
	t.index(at)
	setInMap(&t.of, m.Turn, t.of[m.Turn]+1)
}

// Cut removes a message and all that follow.
func (t *Thread) Cut(id string) {
	i := t.Find(id)
	if i < 0 {
		return
	}
	t.Changes++
	for _, m := range t.Messages[i:] {
		if t.places[m.ID] >= i {
			delete(t.places, m.ID)
		}
		setInMap(&t.removed, m.Turn, true)
		if t.of[m.Turn]--; t.of[m.Turn] == 0 {
			delete(t.of, m.Turn)
		}
	}
	if turn := t.Messages[i].Turn; i > 0 && t.Messages[i-1].Turn == turn {
		setInMap(&t.cutAt, turn, id)
	}
	t.Messages = slices.Delete(t.Messages, i, len(t.Messages))
}

// Observe takes over a prompt, a reply, a rewind, a step with the agent's id or a score that is
// on record.
func (t *Thread) Observe(kind trace.Kind, turn, message, by string, seq uint64) {
	if kind == trace.KindPrompt {
		t.notePrompt(message, Prompt{seq, turn})
	}
	switch kind { //nolint:exhaustive // only these change the thread
	case trace.KindStep:
		t.Names.Note(turn, message)
	case trace.KindData:
		t.noteScore(message, seq)
	case trace.KindRewind:
		t.Cut(message)
	case trace.KindPrompt, trace.KindReply:
		if i := t.Find(message); kind == trace.KindPrompt && i >= 0 && t.Messages[i].Turn == turn {
			return // another text of a prompt that waited
		}
		if !t.removed[turn] { // a turn may be removed just as a message of it begins
			t.Add(Message{ID: message, Turn: turn, User: kind == trace.KindPrompt, By: by, After: seq - 1})
		}
	}
}

// Prompts are the prompts with a message, also those that were removed.
func (t *Thread) Prompts(message string) []Prompt { return slices.Clone(t.prompts[message]) }

// Rewritten returns the prompts whose user changed the text before their turn began: by the
// number of the first version the number of the newest one.
func (t *Thread) Rewritten() map[uint64]uint64 {
	all := map[uint64]uint64{}
	for _, m := range t.Messages {
		versions := t.prompts[m.ID]
		if !m.User || len(versions) < 2 {
			continue
		}
		versions = slices.DeleteFunc(slices.Clone(versions), func(p Prompt) bool { return p.Turn != m.Turn })
		if len(versions) > 1 {
			all[versions[0].Seq] = versions[len(versions)-1].Seq
		}
	}
	return all
}

// notePrompt notes a version of a message. The versions stand in the order of the log.
func (t *Thread) notePrompt(message string, p Prompt) {
	all := t.prompts[message]
	i, found := slices.BinarySearchFunc(all, p, func(a, b Prompt) int { return cmp.Compare(a.Seq, b.Seq) })
	if !found {
		setInMap(&t.prompts, message, slices.Insert(all, i, p))
	}
}

// Unrecorded is what open turns have done to a thread. The log may have these changes
// already, or get them soon.
type Unrecorded struct {
	Cuts     []Cut
	Messages []Message
}

// Cut names the messages that a turn removes.
type Cut struct{ Turn, To string }

// CatchUp does what the log did not know yet.
func (t *Thread) CatchUp(u Unrecorded) {
	for _, c := range u.Cuts {
		if i := t.Find(c.To); i >= 0 && t.Messages[i].Turn != c.Turn { // an edit has the id of the message that it replaces
			t.Cut(c.To)
		}
	}
	for _, m := range u.Messages {
		if !t.removed[m.Turn] && !slices.ContainsFunc(t.Messages, func(o Message) bool { return o.ID == m.ID && o.User == m.User }) {
			t.Add(m)
		}
	}
}

// Target is the user message that a regeneration of the message named runs again: itself,
// or the one before an answer. An empty name means the last message.
func (t *Thread) Target(id string) (Message, bool) {
	i := len(t.Messages) - 1
	if id != "" {
		i = t.Find(id)
	}
	for ; i >= 0; i-- {
		if t.Messages[i].User {
			return t.Messages[i], true
		}
	}
	return Message{}, false
}

// FirstAnswer is the answer that began first among the messages from i on.
func (t *Thread) FirstAnswer(i int) (first Message, ok bool) {
	for _, m := range t.Messages[i:] {
		if !m.User && (!ok || m.nth < first.nth) {
			first, ok = m, true
		}
	}
	return first, ok
}

// Remains reports whether an answer stands before the message i, and whether such an answer
// began after another one.
func (t *Thread) Remains(i int, after Message) (kept, later bool) {
	for _, m := range t.Messages[:i] {
		kept = kept || !m.User
		later = later || !m.User && m.nth > after.nth
	}
	return kept, later
}

// From lists the turns of the messages from i on.
func (t *Thread) From(i int) (turns []string) {
	for _, m := range t.Messages[i:] {
		turns = append(turns, m.Turn)
	}
	return slices.Compact(turns) // those of a turn stand together
}

// AnswerOf is the first answer of a turn.
func (t *Thread) AnswerOf(turn string) (Message, bool) {
	for _, m := range t.Messages {
		if m.Turn == turn && !m.User {
			return m, true
		}
	}
	return Message{}, false
}

// EndingIn finds the newest answer, or turn, whose id ends so: its last message, and the message of its user. It reports whether
// such a turn was removed.
func (t *Thread) EndingIn(suffix string) (last, asked Message, found, removed bool) {
	for i, m := range slices.Backward(t.Messages) {
		switch {
		case strings.HasSuffix(m.Turn, suffix):
			first := slices.IndexFunc(t.Messages, func(o Message) bool { return o.Turn == m.Turn })
			return m, t.Messages[first], true, false
		case i > 0 && !m.User && strings.HasSuffix(m.ID, suffix): // it follows an answer in words
			return m, t.Messages[i-1], true, false
		}
	}
	for turn := range t.removed {
		removed = removed || strings.HasSuffix(turn, suffix)
	}
	return last, asked, false, removed
}

// Learn notes where the agent stood before an answer.
func (t *Thread) Learn(id, resume string) {
	if i := t.Find(id); i >= 0 {
		t.Messages[i].Resume, t.Messages[i].Known = resume, true
	}
}

// Spans lists the turns of the thread in order.
func (t *Thread) Spans() []Span {
	var turns []Span
	for _, m := range t.Messages {
		if len(turns) == 0 || turns[len(turns)-1].Turn != m.Turn {
			turns = append(turns, Span{Turn: m.Turn, After: m.After, To: t.cutAt[m.Turn]})
		}
	}
	return turns
}
