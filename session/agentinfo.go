package session

import (
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

// noteAgent adds what an adapter has learned of the session's agent, and puts all that is known on
// record if it is news. The name and the adapter are the gateway's to say. One call writes at a time,
// so that the newest record has all that is known.
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
	for !about.writing && !about.now.Equal(about.written) {
		now := about.now
		about.writing = true
		l.mu.Unlock()
		err := l.append(l.hub.ctx, "", l.noteOf(by, now.Payload()), nil)
		l.mu.Lock()
		about.writing = false
		if err != nil { // the next note writes it
			if !errors.Is(err, eventlog.ErrNotOwner) {
				l.hub.Logger.Error("the agent of the session is not recorded", "session", l.id, "error", err)
			}
			return
		}
		about.written = now
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
