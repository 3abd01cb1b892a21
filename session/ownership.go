package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/session/turnstate"
	"github.com/tributary-dev/tributary/trace"
)

// This file keeps what memory has of a session as new as the database, which other gateways may
// write to.

// standing is what memory is based on: who owned the session when its document was read. A
// document is written under that term only, so it overwrites nothing that memory does not know.
type standing struct {
	term      uint64 // under which this gateway may write; 0: it may not, or the store does not tell
	taken     bool   // this gateway has written under the term
	elsewhere bool   // another gateway owns the session
	reads     int    // how often memory was read again
}

// standing asks the store who owns a session.
func (h *Hub) standing(ctx context.Context, id string) (now standing, err error) {
	if !h.shared {
		return now, nil
	}
	now.term, err = h.Log.Term(ctx, id)
	_, damaged := errors.AsType[*eventlog.DamageError](err)
	switch {
	case errors.Is(err, eventlog.ErrNotOwner):
		return standing{elsewhere: true}, nil
	case damaged: // what is read of the session says so, where it matters
		return standing{}, nil
	case err != nil:
		return now, fmt.Errorf("ask who owns session %q: %w", id, err)
	}
	now.taken = now.term != 0 && h.Log.Owned(id) == now.term
	return now, nil
}

// refresh reads the session again if another gateway may have written to it since memory knows it.
// If the session was taken from this gateway, its turns here end first.
func (l *activeSession) refresh(ctx context.Context) error {
	h := l.hub
	for h.shared {
		l.mu.Lock()
		known, unknown := l.standing, l.deleted || l.kept == 0 && l.changes > 0
		l.mu.Unlock()
		if unknown || known.term != 0 && h.Log.Owned(l.id) == known.term { // not on record, or owned all the time
			return nil
		}
		now, err := h.standing(ctx, l.id)
		if err != nil {
			return err
		}
		if l.goesOn(known, now) {
			return nil
		}
		if known.term != 0 || known.elsewhere { // else the store does not tell, and a turn here is as good as owning
			for _, t := range l.loseTurns() {
				select {
				case <-t.ended:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		info, err := h.read(ctx, l.id)
		if errors.Is(err, ErrUnknownSession) {
			l.deletedElsewhere()
		}
		if err != nil {
			return err
		}
		if l.reread(known, now, info) {
			return nil
		}
	}
	return nil
}

// goesOn reports whether nobody else has written under a term since memory knows the session, and
// notes the term that is next.
func (l *activeSession) goesOn(known, now standing) bool {
	if known.term == 0 || now.term != known.term && (!known.taken || now.term != known.term+1) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.standing == known && now.term != known.term { // this gateway has given the session back
		l.standing.term, l.standing.taken = now.term, false
	}
	return l.standing.term == now.term
}

// reread takes over the document of a session that others have written, and has the rest read from
// the log again when it is needed. It reports false if memory has changed meanwhile.
func (l *activeSession) reread(known, now standing, info Info) bool {
	l.mu.Lock()
	inUse := len(l.turns) > 0 || l.running != nil || !l.writes.None()
	switch {
	case l.standing.reads != known.reads:
		l.mu.Unlock()
		return false
	case known.term == 0 && !known.elsewhere && now.term == 0 && !now.elsewhere && (inUse || l.changes != l.kept):
		l.mu.Unlock()
		return true
	case inUse:
		written := l.writes.Over()
		l.mu.Unlock()
		<-written
		return false
	}
	now.reads = known.reads + 1
	l.standing, l.info, l.kept = now, info, l.changes
	l.threaded, l.seqKnown, l.last = false, false, nil
	l.thread.Changes++ // what is being read of it may be older
	l.about = aboutAgent{}
	clear(l.unwritten)
	l.mu.Unlock()
	l.CloseIfIdle() // the agent does not know what was said elsewhere
	return true
}

// deletedElsewhere ends a session that another gateway has deleted.
func (l *activeSession) deletedElsewhere() {
	l.setDeleted(true)
	l.CloseIfIdle()
	h := l.hub
	if h.ifInMemory(l.id) == l {
		h.drop(l)
	}
}

// disown says that memory is not to be written, because the store has refused it. The caller holds
// l.mu.
func (l *activeSession) disown() {
	if l.hub.shared {
		l.standing = standing{elsewhere: true, reads: l.standing.reads}
		l.kept = l.changes
	}
}

// isElsewhere reports whether another gateway owns the session.
func (l *activeSession) isElsewhere() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.standing.elsewhere
}

// runsElsewhere reports whether another gateway may run a turn of the session: "" is any turn.
func (l *activeSession) runsElsewhere(turn string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.hub.shared || l.standing.term != 0 || len(l.turns) > 0 {
		return false
	}
	return turn == "" && len(l.info.going()) > 0 || l.info.isOpen(turn) && !l.info.isHeld(turn)
}

// notHere is the error about something that this gateway does not find among its own turns.
func (l *activeSession) notHere(err error) error {
	if l.runsElsewhere("") {
		return ErrElsewhere
	}
	return err
}

// ownershipEvery is how often a gateway looks whether the sessions of its turns are still its own.
const ownershipEvery = time.Second

// watchOwnership ends the turns of sessions that this gateway does not own any more. While the database is away nobody knows, and
// the agents stand still.
func (h *Hub) watchOwnership() {
	still := standstill{Hub: h}
	defer still.suspended.Resume() // the agents have been closed by then
	for sleep(h.ctx, ownershipEvery); h.ctx.Err() == nil; sleep(h.ctx, ownershipEvery) {
		now := h.Log.Among()
		if still.keep(now.Lease < suspendBefore); now.Lease <= 0 && now.Outage > 0 {
			continue
		}
		for _, l := range h.inMemory() {
			if l.lost() {
				l.loseTurns()
			}
		}
	}
}

// lost reports whether the session has turns here, and another gateway may own it.
func (l *activeSession) lost() bool {
	l.mu.Lock()
	turns := len(l.turns)
	l.mu.Unlock()
	return turns > 0 && !l.keepsOwning()
}

// keepsOwning reports whether no other gateway can have taken the session since this one wrote to it.
func (l *activeSession) keepsOwning() bool {
	l.mu.Lock()
	now := l.standing
	l.mu.Unlock()
	return !now.elsewhere && (!now.taken || l.hub.Log.Owned(l.id) == now.term)
}

// loseTurns ends the turns of a session that another gateway may own, and returns them. A turn on
// another server is left to the next owner; if that is this gateway again, it goes on here.
func (l *activeSession) loseTurns() []*turn {
	all, left := openTurns([]*activeSession{l}), false
	for _, t := range all {
		switch {
		case t.standsAt().Waiting():
			t.endNow(stopped("not_run"))
		case !t.survivesRestart():
			t.endNow(failed(trace.ReasonLog, logFailed))
		case t.detach():
			left = true
			l.hub.goes.Go(func() {
				t.leaveLog()
				l.mu.Lock()
				l.leave(t, false)
				l.mu.Unlock()
				t.leaveReaders()
			})
		}
	}
	if left {
		l.hub.goes.Go(func() {
			for _, t := range all {
				<-t.ended
			}
			l.closeAgent()
			l.hub.goes.Go(l.retryTakeUp)
		})
	}
	return all
}

// standsAt is the state of the turn for a caller without activeSession.mu.
func (t *turn) standsAt() turnstate.State {
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	return t.state
}

// endCause is the reason for which the agent's work ends with the turn. The agent's server is not
// asked to stop a run that another gateway may follow.
func (t *turn) endCause() error {
	if t.session.lost() && t.survivesRestart() {
		return agent.ErrDetached
	}
	return errEnded
}
