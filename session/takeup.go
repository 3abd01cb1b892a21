package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/session/thread"
	"github.com/tributary-dev/tributary/trace"
)

// This file takes up turns that do not run: those that an earlier process or a gateway that has died
// left open, and those whose end the log did not take.

// recover takes up the turns that an earlier process left open. Turns of an agent on another server go on. The other agents
// died with that process, and their turns are closed. Records that clients had seen
// stay, and the stop says what happened.
func (h *Hub) recover(ctx context.Context) error {
	for e, err := range h.Log.List(ctx, eventlog.Query{}) {
		if err != nil {
			return fmt.Errorf("list the sessions: %w", err)
		}
		if !e.Damaged { // else its time may be wrong
			h.stamp = e.Updated
			break
		}
	}
	for e, err := range h.Log.List(ctx, eventlog.Query{Phases: []eventlog.Phase{eventlog.Open}}) {
		if err != nil {
			return fmt.Errorf("list the sessions with open turns: %w", err)
		}
		if e.Damaged {
			continue
		}
		_, err := h.takeUp(ctx, e.Session)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, eventlog.ErrNotOwner) { // the others are to work
			h.Logger.Error("turns that were cut off could not be closed: the session's next prompt tries again", "session", e.Session, "error", err)
		}
		h.forget(e.Session)
	}
	return nil
}

// TakenUp counts the turns that this gateway has taken up since it started.
type TakenUp struct {
	Continued uint64 // their agent is on another server
	Held      uint64 // prompts that had waited for the agent
	Closed    uint64
}

// TakenUp is what has become of the turns that did not run.
func (h *Hub) TakenUp() TakenUp {
	return TakenUp{h.took.continued.Load(), h.took.held.Load(), h.took.closed.Load()}
}

// takeUp goes on with the open turns of a session, or closes them, and reports whether it came to them. If
// another gateway owns the session, the turns are that gateway's, and the error is ErrNotOwner.
func (h *Hub) takeUp(ctx context.Context, session string) (came bool, err error) {
	if term, err := h.Log.Term(ctx, session); err != nil || h.shared && term == 0 { // with no term, the store has no owners
		return false, err
	}
	return true, h.use(ctx, session, func(l *activeSession) error { return l.takeUpTurns(ctx, restarted()) })
}

// restarted is the end of a turn whose process is gone.
func restarted() trace.Stop {
	return failed(trace.ReasonRestart, "The gateway was restarted while this turn ran, so it was not finished.")
}

// takeUpTurns goes on with the turns on the session's list that do not run and whose agent lives
// elsewhere, and closes the others: an earlier process or another gateway was killed, or the log failed.
func (l *activeSession) takeUpTurns(ctx context.Context, stop trace.Stop) error {
	if len(l.orphans()) == 0 {
		return nil
	}
	unlock, err := l.lockHistory(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	l.mu.Lock()
	taken := l.standing.taken
	entry, err := l.info.entry()
	l.mu.Unlock()
	switch { // before the agent's server hears of it: another gateway may do the same
	case taken:
	case l.hub.shared:
		err = l.save(ctx)
	case err == nil:
		_, err = l.hub.Log.AppendWith(ctx, entry, "", nil) // as it is on record, so it changes nothing
	}
	if err != nil {
		return fmt.Errorf("take session %q: %w", l.id, err)
	}
	var left []*turn
	for _, ref := range l.orphans() {
		t, lost := l.takeUpTurn(ctx, ref, stop)
		if err = lost; err != nil {
			break
		}
		if t != nil {
			left = append(left, t)
		}
	}
	l.reattach(left) //nolint:contextcheck // the turns outlive the request
	if err != nil {
		return err
	}
	return l.flush(ctx)
}

func (l *activeSession) orphans() (all []TurnRef) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ref := range l.info.going() {
		if l.turns[ref.ID] == nil {
			all = append(all, ref)
		}
	}
	return all
}

// isLeft reports whether a turn is on the list of open turns, does not run here, and has not ended here either.
func (l *activeSession) isLeft(turn string) bool {
	orphan := slices.ContainsFunc(l.orphans(), func(r TurnRef) bool { return r.ID == turn })
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ended := l.unwritten[turn]
	return orphan && !ended
}

// takeUpTurn takes a turn up where its records end. If its agent goes on with it, the turn is returned.
// A prompt that waited for the agent is held, and every other turn is finished. The caller has locked
// the history.
func (l *activeSession) takeUpTurn(ctx context.Context, ref TurnRef, stop trace.Stop) (*turn, error) {
	took := &l.hub.took
	var records []trace.Record
	var layout thread.Layout
	for r, err := range l.records(ctx, Filter{Turn: ref.ID, After: ref.After, Deltas: true}) {
		if err != nil {
			return nil, err
		}
		records = append(records, r)
		layout.Take(r.Seq, r.Payload)
	}
	ran := len(layout.Replies) > 0
	l.mu.Lock()
	unwritten, known := l.unwritten[ref.ID]
	l.mu.Unlock()
	_, goesOn := l.hub.Agents[l.info.Agent].Runtime.(agent.Reattacher)
	switch {
	case ran && !known && !layout.Finished && goesOn:
		took.continued.Add(1)
		return l.revive(ref, records, layout), nil //nolint:contextcheck // the turn outlives the start
	case !ran && !known && !ref.Held && len(records) > 0 && !layout.Finished: // it waited for the agent
		l.mu.Lock()
		defer l.mu.Unlock()
		l.noteHeld([]string{ref.ID})
		took.held.Add(1)
		return nil, nil //nolint:nilnil // nothing runs
	case !ran:
		stop = stopped("not_run")
	case known:
		stop = unwritten
	}
	ended := ref
	ended.EndedAt, ended.Outcome, ended.Undelivered = l.hub.Now(), stop.Outcome, true
	if layout.Finished {
		ended.Outcome = layout.Outcome
	}
	ends := func(i *Info) {
		i.Open = i.openBut(ref.ID)
		// By place in the log: ids sort by a clock that may have been set back.
		if ran && (i.Last == nil || ref.After >= i.Last.After) {
			i.Last = &ended
		}
	}
	l.loggerOf(ref.ID, layout.By, agent.Caller{}).Info("closes a turn that was cut off")
	if len(records) > 0 && !layout.Finished {
		b := trace.Restore(l.hub.ctx, trace.Config{ //nolint:contextcheck // a stop that was begun is written, also if who asked has left
			Turn:   ref.ID,
			Now:    l.hub.Now,
			Append: func(ctx context.Context, events []trace.Event) error { return l.append(ctx, ref.ID, events, ends) },
		}, records)
		if err := b.Finish(stop); err != nil {
			return nil, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.unwritten, ref.ID)
	if l.info.isOpen(ref.ID) { // its stop was on record before
		ends(&l.info)
		l.changes++
	}
	took.closed.Add(1)
	return nil, nil //nolint:nilnil // as above
}

// takeUpEvery is how often a session tries to close turns whose end the log has not taken.
const takeUpEvery = time.Second

// retryTakeUp closes the turns of the session whose end the log has not taken, as soon as it
// takes records again: nobody may prompt in this session for long. The session stays in
// memory until then, because only memory has the newest text.
func (l *activeSession) retryTakeUp() {
	h := l.hub
	ctx, cancel := during(h.ctx, l.life)
	defer cancel()
	h.mu.Lock()
	release := h.pin(l)
	h.mu.Unlock()
	defer release()
	for {
		select {
		case <-time.After(takeUpEvery):
		case <-ctx.Done():
			return
		}
		err := l.save(ctx) // first, because another gateway may own the session
		if err == nil {
			err = l.takeUpTurns(ctx, failed(trace.ReasonLog, logFailed))
		}
		if err == nil || ofOneSession(err) { // another owner closes them, or they cannot be closed
			return
		}
	}
}

// logFailed is the sentence of a turn that the log has failed.
const logFailed = "The gateway could not write its log, so the turn was ended."

// orphansEvery is how often a gateway looks for turns of others on the database that have died. The one that finds
// another one dead looks at once. The others do so in case that it dies, too.
const orphansEvery = 5 * time.Second

// watchOrphans goes on with the open turns of gateways that have died, or closes them. A session whose
// turns this gateway has lost itself is left to others: the store never takes records of such turns from here.
func (h *Hub) watchOrphans() {
	lost := map[string]bool{}
	for died := h.Log.Died(); ; {
		select {
		case <-died:
		case <-time.After(orphansEvery):
		case <-h.ctx.Done():
			return
		}
		for e, err := range h.Log.List(h.ctx, eventlog.Query{Phases: []eventlog.Phase{eventlog.Open}}) {
			if err != nil || h.refuses() {
				break // the next look finds them
			}
			if lost[e.Session] {
				continue
			}
			if l := h.ifInMemory(e.Session); e.Damaged || l != nil && len(l.orphans()) == 0 && l.keepsOwning() {
				continue
			}
			came, err := h.takeUp(h.ctx, e.Session)
			switch {
			case err == nil, h.ctx.Err() != nil, errors.Is(err, ErrUnknownSession):
			case ofOneSession(err):
				if came {
					lost[e.Session] = true
				}
			default:
				h.Logger.Warn("turns of a gateway that has died are not closed yet", "session", e.Session, "error", err)
			}
		}
	}
}
