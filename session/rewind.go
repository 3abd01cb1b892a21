package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// rewinding is what a prompt removes: a message and all that follows it.
type rewinding struct {
	to    string   // the message; "" takes nothing back
	turns []string // that go, in the order of the branch
	ran   bool     // the agent has worked on one of them
	// from is where the agent stood before it did, and was where it stands now.
	from, was string
	// why says in a sentence why the agent cannot go there, and warned what the next turn
	// was to say before.
	why, warned string
}

// again turns a regeneration into a prompt with the id and the content of the
// message that is to run again. Where the request names none that is known, the
// last message of a page decides. A page that is behind gets an error. A page whose
// last text was never sent is not behind: it means an edit.
func (l *live) again(ctx context.Context, p Prompt) (Prompt, error) {
	l.mu.Lock()
	m, named := l.branch.target(p.Of)
	named = named && (p.Of != "" || p.Message.ID == "")
	own := l.branch.find(p.Message.ID)
	last, _ := l.branch.target("")
	if !named && own >= 0 {
		m = l.branch.messages[own]
	}
	l.mu.Unlock()
	holds := p.Message.ID == m.id && len(p.Message.Parts) > 0
	switch {
	case !named && own < 0 && len(p.Message.Parts) > 0:
		return p, nil // an app that regenerates what was never sent
	case !named && own < 0, !m.user:
		return p, ErrUnknownMessage
	case named && holds:
		return p, nil // perhaps edited: the content of the request counts
	}
	said, err := l.loadPrompt(ctx, m.turn, m.id, m.after)
	same := holds && textOf(said) == textOf(p.Message)
	switch {
	case err != nil:
		return p, err
	case same && m.id == last.id:
		return p, nil
	case holds && !same:
		return p, l.unsaid(ctx, p.Message)
	case same, !named && m.id != last.id:
		return p, ErrStale
	}
	p.Message = said
	return p, nil
}

func textOf(m trace.UserMessage) string { return agent.Prompt{Message: m}.Text() }

// loadPrompt reads a message of a user from the log.
func (l *live) loadPrompt(ctx context.Context, turn, message string, after uint64) (trace.UserMessage, error) {
	for r, err := range l.hub.Log.Wholes(ctx, l.id, after, 0) {
		if err != nil {
			return trace.UserMessage{}, fmt.Errorf("read the history of session %q: %w", l.id, err)
		}
		if p, ok := r.Payload.(trace.Prompt); ok && r.Turn == turn && p.Message.ID == message {
			return p.Message, nil
		}
	}
	return trace.UserMessage{}, ErrUnknownMessage
}

// recall learns where the agent stood before it answered the message named, or
// what followed it. The branch of a session that was not in memory does not know.
func (l *live) recall(ctx context.Context, id string) error {
	l.mu.Lock()
	first, ok := message{}, false
	if i := l.branch.find(id); id != "" && i >= 0 {
		first, ok = l.branch.firstAnswer(i)
	}
	l.mu.Unlock()
	if !ok || first.recalled {
		return nil
	}
	for r, err := range l.hub.Log.Wholes(ctx, l.id, first.after, 0) {
		if err != nil {
			return fmt.Errorf("read the history of session %q: %w", l.id, err)
		}
		p, is := r.Payload.(trace.Reply)
		if !is || r.Turn != first.turn || p.MessageID != first.id {
			continue
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if i := l.branch.find(first.id); i >= 0 {
			l.branch.messages[i].resume, l.branch.messages[i].recalled = p.Resume, true
		}
		return nil
	}
	return nil
}

// unsaid returns ErrStale if the message ever had this text: a page that shows it
// has missed an edit.
func (l *live) unsaid(ctx context.Context, m trace.UserMessage) error {
	var said []uint64
	for mark, err := range l.hub.Log.Messages(ctx, l.id) {
		if err != nil {
			return fmt.Errorf("read the history of session %q: %w", l.id, err)
		}
		if mark.Kind == trace.KindPrompt && mark.Message == m.ID {
			said = append(said, mark.Seq)
		}
	}
	for _, seq := range said {
		for r, err := range l.hub.Log.Wholes(ctx, l.id, seq-1, seq) {
			if err != nil {
				return fmt.Errorf("read the history of session %q: %w", l.id, err)
			}
			if p, ok := r.Payload.(trace.Prompt); ok && textOf(p.Message) == textOf(m) {
				return ErrStale
			}
		}
	}
	return nil
}

// firstAnswer is the answer that began first among the messages from i on.
func (b *branch) firstAnswer(i int) (first message, ok bool) {
	for _, m := range b.messages[i:] {
		if !m.user && (!ok || m.nth < first.nth) {
			first, ok = m, true
		}
	}
	return first, ok
}

// resolve returns the messages that a prompt removes, if any. History is cut only
// on an explicit request, and a new id always appends. No user can remove messages
// of another.
func (l *live) resolve(p Prompt) (rewinding, error) {
	i := l.branch.find(p.Message.ID)
	if p.Message.ID == "" || i < 0 {
		return rewinding{}, nil
	}
	if !l.branch.messages[i].user {
		return rewinding{}, ErrUnknownMessage
	}
	for _, m := range l.branch.messages[i:] {
		if m.user && m.by != p.By {
			return rewinding{}, ErrNotYours
		}
	}
	back := l.branch.rewinding(i)
	back.was, back.warned = l.info.Resume, l.unforgot
	kept := slices.ContainsFunc(l.branch.messages[:i], func(m message) bool { return !m.user })
	first, ran := l.branch.firstAnswer(i)
	later := ran && slices.ContainsFunc(l.branch.messages[:i], func(m message) bool { return !m.user && m.nth > first.nth })
	r, can := l.hub.Agents[l.info.Agent].Runtime.(agent.Rewinder)
	switch {
	case !can:
		back.why = "The agent still remembers what was removed: it cannot go back."
	case later: // it overtook what stands before it
		back.why = "The agent still remembers what was removed: it has said since what stays."
	case back.from == "" && kept || !r.Rewinds(back.from): // it has no token, or had none when this was recorded
		back.why = "The agent still remembers what was removed: where it stood before that is not known."
	}
	return back, nil
}

// rewinding is what goes when the branch is cut before its message i.
func (b *branch) rewinding(i int) rewinding {
	back := rewinding{to: b.messages[i].id}
	for _, m := range b.messages[i:] {
		if !slices.Contains(back.turns, m.turn) {
			back.turns = append(back.turns, m.turn)
		}
	}
	first, ran := b.firstAnswer(i)
	back.ran, back.from = ran, first.resume
	return back
}

// superseded returns the turns that end because a rewind removes them.
func (l *live) superseded(back rewinding) []ending {
	var all []ending
	for _, id := range back.turns {
		if t := l.turns[id]; t != nil && !t.state.Stopped() {
			all = append(all, ending{t, stopped(superseded)})
		}
	}
	return all
}

// takeBack cuts the branch, and moves the agent to where it stood. The one that
// is open is behind the times from now on: it works, or will be closed before it
// is asked again.
func (l *live) takeBack(back rewinding) {
	if back.to == "" {
		return
	}
	l.branch.cut(back.to)
	switch {
	case !back.ran:
	case back.why != "":
		l.unforgot = back.why
	default:
		l.info.Resume = back.from
		l.astray++
	}
}

// stay leaves the agent where it was: taking back did not get on record.
func (l *live) stay(back rewinding) {
	switch {
	case !back.ran:
	case back.why != "" && l.unforgot == back.why:
		l.unforgot = back.warned
	case back.why == "" && l.info.Resume == back.from:
		l.info.Resume = back.was
	}
}

// goBack makes sure that the agent does not remember messages that were removed
// since it last worked: an agent that is opened now stands at the place of its
// token. It reports false if the turn was ended meanwhile. If the agent cannot
// forget, the turn says so.
func (t *turn) goBack() bool {
	l := t.live
	l.mu.Lock()
	if t.state.Stopped() {
		l.mu.Unlock()
		return false // the next one sees to it
	}
	times, why := l.astray, l.unforgot
	l.unforgot = ""
	l.mu.Unlock()
	if times > 0 {
		l.closeAgent()
		l.mu.Lock()
		if l.astray == times { // else it was sent back again, and this turn with it
			l.astray = 0
		}
		l.mu.Unlock()
	}
	if why != "" {
		t.builder.Emit(trace.Error{Code: "not_rewound", Message: why})
	}
	return true
}
