package thread

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// This file has the layout of one turn: its messages and pauses.

// Superseded is the reason of a turn that an edit or a regeneration replaces.
const Superseded = "superseded"

// Layout is where the records of a turn can be entered and left.
type Layout struct {
	Replies  []Reply
	Rewound  bool // the turn was removed while it ran
	Finished bool
	Outcome  trace.Outcome // of a turn that has finished
	By       string        // the user who asked for the turn
	Prompted uint64        // the number of the first prompt; 0 if there is none
	last     uint64        // the number of the newest record that was taken
	pauses   []Pause
	settled  map[string]uint64 // by request: the number of its answer
	allowed  map[string]bool   // permission requests: whether they were allowed
}

// Reply is where an assistant message begins, and where the agent stood then.
type Reply struct {
	Seq        uint64
	ID, Resume string
}

// Pause is where readers leave.
type Pause struct {
	Seq      uint64
	requests []string
}

// Within reports whether all requests of the pause are among these.
func (p Pause) Within(ids []string) bool {
	return !slices.ContainsFunc(p.requests, func(id string) bool { return !slices.Contains(ids, id) })
}

// Take takes over the next record of the turn. A record that was taken before changes
// nothing.
func (l *Layout) Take(seq uint64, payload trace.Payload) {
	if seq <= l.last {
		return
	}
	l.last = seq
	switch p := payload.(type) { //nolint:gochecksumtype // the other kinds begin, ask, answer and end nothing
	case trace.Prompt:
		l.By, l.Prompted = p.By, cmp.Or(l.Prompted, seq)
	case trace.Reply:
		l.Replies = append(l.Replies, Reply{seq, p.MessageID, p.Resume})
	case trace.Pause:
		l.pauses = append(l.pauses, Pause{seq, p.Requests})
	case trace.PermissionResponse:
		setInMap(&l.settled, p.RequestID, seq)
		setInMap(&l.allowed, p.RequestID, p.Allowed())
	case trace.Answer:
		setInMap(&l.settled, p.QuestionID, seq)
	case trace.Rewind:
		l.Rewound = l.Rewound || len(l.Replies) > 0
	case trace.Stop:
		l.Finished, l.Outcome = true, p.Outcome
		l.Rewound = l.Rewound || p.Reason == Superseded
	}
}

// Standing is how a turn stood when a record was its newest.
type Standing struct {
	Prompted bool     // the prompt was on record
	Message  string   // the id of the newest assistant message; "" if there was none
	Requests []string // those that were with the user and had no answer
}

// StandingAt tells how the turn stood at the record with the number.
func (l *Layout) StandingAt(seq uint64) (s Standing) {
	s.Prompted = l.Prompted != 0 && l.Prompted <= seq
	var since uint64
	for _, r := range l.Replies {
		if r.Seq <= seq {
			s.Message, since = r.ID, r.Seq
		}
	}
	for _, p := range l.pauses {
		if p.Seq < since || p.Seq > seq {
			continue // a message begins after the answers to what stood above it
		}
		for _, id := range p.requests {
			if at := l.settled[id]; (at == 0 || at > seq) && !slices.Contains(s.Requests, id) {
				s.Requests = append(s.Requests, id)
			}
		}
	}
	return s
}

// Past is the number of the last pause whose requests all have their answers, or 0.
func (l *Layout) Past() uint64 {
	for _, p := range slices.Backward(l.pauses) {
		if l.Answered(p) {
			return p.Seq
		}
	}
	return 0
}

// Upto is the number of the newest answer at a pause that waits for more, or 0.
func (l *Layout) Upto() (seq uint64) {
	if len(l.pauses) == 0 {
		return 0
	}
	p := l.pauses[len(l.pauses)-1]
	if l.Answered(p) {
		return 0
	}
	for _, id := range p.requests {
		if at := l.settled[id]; at > p.Seq {
			seq = max(seq, at)
		}
	}
	return seq
}

// Answered reports whether all requests of a pause have their answers.
func (l *Layout) Answered(p Pause) bool {
	return !slices.ContainsFunc(p.requests, func(id string) bool { return l.settled[id] == 0 })
}

// PauseOf finds the last pause at which one of these requests was put to the user.
func (l *Layout) PauseOf(ids []string) (Pause, bool) {
	for _, p := range slices.Backward(l.pauses) {
		if slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(p.requests, id) }) {
			return p, true
		}
	}
	return Pause{}, false
}

// Pauses reports whether the turn has paused, or has more than one message.
func (l *Layout) Pauses() bool { return len(l.pauses) > 0 || len(l.Replies) > 1 }

// Allowed returns for each answered permission request whether it was allowed.
func (l *Layout) Allowed() map[string]bool {
	all := map[string]bool{}
	maps.Copy(all, l.allowed)
	return all
}

// Layout returns the layout of a turn, if the turn is open or its layout was learned. The
// copy changes no more.
func (t *Thread) Layout(turn string) (Layout, bool) {
	l := t.layouts[turn]
	if l == nil {
		return Layout{}, false
	}
	c := *l
	c.Replies, c.pauses = slices.Clone(l.Replies), slices.Clone(l.pauses)
	c.settled, c.allowed = maps.Clone(l.settled), maps.Clone(l.allowed)
	return c, true
}

// Begin makes the layout of a turn that begins. Take fills it.
func (t *Thread) Begin(turn string) { t.SetLayout(turn, &Layout{}) }

// SetLayout keeps the layout of a turn that was read.
func (t *Thread) SetLayout(turn string, l *Layout) {
	setInMap(&t.layouts, turn, l)
}

// Forget drops the layout of a turn, if its records are not known for sure.
func (t *Thread) Forget(turn string) { delete(t.layouts, turn) }

// Take takes over a record of an open turn, or a score.
func (t *Thread) Take(turn string, seq uint64, payload trace.Payload) {
	if p, is := payload.(trace.Prompt); is {
		t.notePrompt(p.Message.ID, Prompt{seq, turn})
	}
	d, _ := payload.(trace.Data)
	if _, is := d.Score(); is {
		t.noteScore(d.ID, seq)
	}
	if l := t.layouts[turn]; l != nil {
		l.Take(seq, payload)
	}
}

// Keep takes over what another thread of the same session has learned by Take, when the
// messages were read again.
func (t *Thread) Keep(of *Thread) {
	t.layouts = of.layouts
	if len(of.Names.order) > 0 { // it has those that were given and are not on record yet
		t.Names = of.Names
	}
	for id, seq := range of.scores {
		t.noteScore(id, seq)
	}
	for message, all := range of.prompts {
		for _, p := range all {
			t.notePrompt(message, p)
		}
	}
}
