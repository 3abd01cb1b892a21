package session

import (
	"cmp"
	"context"
	"errors"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// This file puts on record which agent a session is with.

// aboutAgent is what is known of a session's agent. activeSession.mu guards it.
type aboutAgent struct {
	read    bool            // what is on record is known
	now     trace.AgentInfo // what is known
	written trace.AgentInfo // what the newest record says
	writing bool            // a call of noteAgent writes a record
}

// openingNotes has what an agent says of itself while it opens. All of that goes on record in one commit when the agent is open: four
// commits, one after the other, would delay the first word of a session. activeSession.mu guards the notes.
type openingNotes struct {
	events  []trace.Event
	by      trace.Actor // who has said what the agent is; "": nobody
	changes uint64      // of the document, that are to be kept with them
}

// noteOpening puts on record what the agent has said while it opened, and which agent it is. It returns, with activeSession.mu, when
// nothing more has come meanwhile.
func (l *activeSession) noteOpening() {
	l.noteAgent(trace.Gateway, trace.AgentInfo{}) // with what the adapter has learned, also of an agent that does not open
	l.mu.Lock()
	for first := true; first || len(l.opening.events) > 0 || l.opening.changes > l.kept; first = false {
		said := l.opening
		l.opening = openingNotes{}
		l.recordAgent(cmp.Or(said.by, trace.Gateway), said.events)
		if said.changes > l.kept { // there was nothing to note
			l.mu.Unlock()
			l.saveLater()
			l.mu.Lock()
		}
	}
}

// noteAgent adds what an adapter has learned of the session's agent, and puts all that is known on
// record if it is news. The name and the adapter are the gateway's to say.
func (l *activeSession) noteAgent(by trace.Actor, learned trace.AgentInfo) {
	name, a := l.agentNow()
	l.readAgent(l.hub.ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	about := &l.about
	if about.now.Adapter != a.Adapter { // another agent has got the name
		about.now = trace.AgentInfo{}
	}
	learned.Name, learned.Adapter = name, a.Adapter
	about.now = about.now.With(learned)
	switch {
	case l.slot.state != agentOpening:
		l.recordAgent(by, nil)
	case by == trace.Agent:
		l.opening.by = by
	}
}

// recordAgent puts notes on record, and behind them what is known of the agent if that is news. One call writes that at a time,
// so that the newest record has all that is known. The caller holds l.mu, which recordAgent gives up meanwhile.
func (l *activeSession) recordAgent(by trace.Actor, notes []trace.Event) {
	about := &l.about
	for news := true; news || len(notes) > 0; notes = nil {
		now := about.now
		if news = !about.writing && !now.Equal(about.written); news {
			notes = append(notes, l.noteOf(by, now.Payload())...)
			about.writing = true
		}
		if len(notes) == 0 {
			return
		}
		l.mu.Unlock()
		err := l.append(l.hub.ctx, "", notes, nil)
		l.mu.Lock()
		about.writing = about.writing && !news
		if err != nil { // the next note writes what is known
			if !errors.Is(err, eventlog.ErrNotOwner) {
				l.hub.Logger.Error("what the agent of the session says of itself is not recorded", "session", l.id, "error", err)
			}
			return
		}
		if news {
			about.written = now
		}
	}
}

// readAgent reads what the newest record says of the agent, once.
func (l *activeSession) readAgent(ctx context.Context) {
	l.mu.Lock()
	read, at := l.about.read, l.info.AgentAt
	l.mu.Unlock()
	if read {
		return
	}
	var info trace.AgentInfo
	if at > 0 {
		r, _ := l.recordAt(ctx, at) // without it the record is written again
		d, _ := r.Payload.(trace.Data)
		info, _ = d.Agent()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.about.read {
		l.about = aboutAgent{read: true, now: info, written: info}
	}
}

// tookAgent notes which record says what the agent is. The caller holds l.mu.
func (l *activeSession) tookAgent(seq uint64, p trace.Payload) {
	d, _ := p.(trace.Data)
	if _, is := d.Agent(); is {
		l.info.AgentAt = seq
		l.changes++ // the next write of the document has it; without it the record is only written again
	}
}
