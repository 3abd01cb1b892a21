package session

import (
	"context"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session/agents"
	"github.com/tributary-dev/tributary/session/thread"
	"github.com/tributary-dev/tributary/trace"
)

// This file cuts history at a message, and moves the agent to where it stood before.

// rewind is what a prompt removes: a message and all that follows it.
type rewind struct {
	to    string   // the message; "" takes nothing back
	turns []string // that go, in the order of the thread
	ran   bool     // the agent has worked on one of them
	// from is where the agent stood before it did, and was where it stands now.
	from, was string
	// why says in a sentence why the agent cannot go there, and warned what the next turn
	// was to say before.
	why, warned string
}

// resolveRegenerate turns a regeneration into a prompt with the id and the content of the
// message that is to run again. Where the request names none that is known, the
// last message of a page decides. A page that is behind gets an error. A page whose
// last text was never sent is not behind: it means an edit.
func (l *activeSession) resolveRegenerate(ctx context.Context, p Prompt) (Prompt, error) {
	l.mu.Lock()
	m, named := l.thread.Target(p.Of)
	named = named && (p.Of != "" || p.Message.ID == "")
	own := l.thread.Find(p.Message.ID)
	last, _ := l.thread.Target("")
	if !named && own >= 0 {
		m = l.thread.Messages[own]
	}
	l.mu.Unlock()
	holds := p.Message.ID == m.ID && len(p.Message.Parts) > 0
	switch {
	case !named && own < 0 && len(p.Message.Parts) > 0:
		return p, nil // an app that regenerates what was never sent
	case !named && own < 0, !m.User:
		return p, ErrUnknownMessage
	case named && holds:
		return p, nil // perhaps edited: the content of the request counts
	}
	said, err := l.loadPrompt(ctx, m.Turn, m.ID)
	same := holds && textOf(said) == textOf(p.Message)
	switch {
	case err != nil:
		return p, err
	case same && m.ID == last.ID:
		return p, nil
	case holds && !same:
		return p, l.checkStale(ctx, p.Message)
	case same, !named && m.ID != last.ID:
		return p, ErrStale
	}
	p.Message = said
	return p, nil
}

func textOf(m trace.UserMessage) string { return agent.Prompt{Message: m}.Text() }

// loadPrompt reads the message of a user that began a turn.
func (l *activeSession) loadPrompt(ctx context.Context, turn, message string) (trace.UserMessage, error) {
	r, err := l.promptRecord(ctx, turn, message)
	p, _ := r.Payload.(trace.Prompt)
	return p.Message, err
}

// promptRecord reads the newest version of that message.
func (l *activeSession) promptRecord(ctx context.Context, turn, message string) (trace.Record, error) {
	r, ok, err := l.findPrompt(ctx, message, func(r trace.Record, _ trace.UserMessage) bool { return r.Turn == turn })
	if err == nil && !ok {
		err = ErrUnknownMessage
	}
	return r, err
}

// findPrompt looks for a version of a message of a user. The projection knows the numbers of
// their records.
func (l *activeSession) findPrompt(ctx context.Context, message string, is func(trace.Record, trace.UserMessage) bool) (found trace.Record, ok bool, err error) {
	l.mu.Lock()
	versions := l.thread.Prompts(message)
	l.mu.Unlock()
	for _, version := range slices.Backward(versions) {
		r, err := l.recordAt(ctx, version.Seq)
		if p, prompt := r.Payload.(trace.Prompt); err != nil || prompt && is(r, p.Message) {
			return r, err == nil, err
		}
	}
	return found, false, nil
}

// loadResumePoint learns where the agent stood before it answered the message named, or a
// later one. The thread of a session that was not in memory does not know.
func (l *activeSession) loadResumePoint(ctx context.Context, id string) error {
	l.mu.Lock()
	var first thread.Message
	ok := false
	if i := l.thread.Find(id); id != "" && i >= 0 {
		first, ok = l.thread.FirstAnswer(i)
	}
	l.mu.Unlock()
	if !ok || first.Known {
		return nil
	}
	layout, err := l.layout(ctx, first.Turn, first.After)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range layout.Replies {
		if r.ID == first.ID {
			l.thread.Learn(r.ID, r.Resume)
		}
	}
	return nil
}

// checkStale returns ErrStale if the message ever had this text: a page that shows it
// has missed an edit.
func (l *activeSession) checkStale(ctx context.Context, m trace.UserMessage) error {
	_, ok, err := l.findPrompt(ctx, m.ID, func(_ trace.Record, old trace.UserMessage) bool { return textOf(old) == textOf(m) })
	if ok {
		return ErrStale
	}
	return err
}

// resolve returns the messages that a prompt removes, if any. History is cut only
// on an explicit request, and a new id always appends. No user can remove messages
// of another.
func (l *activeSession) resolve(p Prompt) (rewind, error) {
	i := l.thread.Find(p.Message.ID)
	if p.Message.ID == "" || i < 0 {
		return rewind{}, nil
	}
	if !l.thread.Messages[i].User {
		return rewind{}, ErrUnknownMessage
	}
	for _, m := range l.thread.Messages[i:] {
		if m.User && m.By != p.By {
			return rewind{}, ErrNotYours
		}
	}
	first, ran := l.thread.FirstAnswer(i)
	kept, later := l.thread.Remains(i, first)
	back := rewind{
		to: l.thread.Messages[i].ID, turns: l.thread.From(i), ran: ran, from: first.Resume,
		was: l.info.Resume, warned: l.rewindWarning,
	}
	rewinds, can := agents.Rewinds(l.hub.Logger, l.hub.Agents[l.info.Agent].Runtime, back.from)
	switch {
	case !can:
		back.why = "The agent still remembers what was removed: it cannot go back."
	case ran && later: // it overtook what stands before it
		back.why = "The agent still remembers what was removed: it has said since what stays."
	case back.from == "" && kept || !rewinds: // it has no token, or had none when this was recorded
		back.why = "The agent still remembers what was removed: where it stood before that is not known."
	}
	return back, nil
}

// superseded returns the turns that end because a rewind removes them.
func (l *activeSession) superseded(back rewind) []ending {
	var all []ending
	for _, id := range back.turns {
		if t := l.turns[id]; t != nil && !t.state.Stopped() {
			all = append(all, ending{t, stopped(superseded)})
		}
	}
	return all
}

// applyRewind cuts the thread, and moves the agent to where it stood. The one that
// is open is behind the times from now on: it works, or will be closed before it
// is asked again.
func (l *activeSession) applyRewind(back rewind) {
	if back.to == "" {
		return
	}
	l.thread.Cut(back.to)
	switch {
	case !back.ran:
	case back.why != "":
		l.rewindWarning = back.why
	default:
		l.info.Resume = back.from
		l.agentStale++
	}
}

// undoRewind leaves the agent where it was: taking back did not get on record.
func (l *activeSession) undoRewind(back rewind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.threaded = false // what is on record is to be read again
	switch {
	case !back.ran:
	case back.why != "" && l.rewindWarning == back.why:
		l.rewindWarning = back.warned
	case back.why == "" && l.info.Resume == back.from:
		l.info.Resume = back.was
	}
}

// syncAgent makes sure that the agent does not remember messages that were removed
// since it last worked: an agent that is opened now stands at the place of its
// token. It reports false if the turn was ended meanwhile. If the agent cannot
// forget, the turn says so.
func (t *turn) syncAgent() bool {
	l := t.session
	l.mu.Lock()
	if t.state.Stopped() {
		l.mu.Unlock()
		return false // the next one sees to it
	}
	times, why := l.agentStale, l.rewindWarning
	l.rewindWarning = ""
	l.mu.Unlock()
	if times > 0 {
		l.closeAgent()
		l.mu.Lock()
		if l.agentStale == times { // else it was sent back again, and this turn with it
			l.agentStale = 0
		}
		l.mu.Unlock()
	}
	if why != "" {
		t.builder.Emit(trace.Error{Code: "not_rewound", Message: why})
	}
	return true
}
