package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/session/thread"
	"github.com/tributary-dev/tributary/trace"
)

// This file closes the turns that an earlier process left open.

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
		info, err := infoOf(e.Session, e.Doc)
		if err != nil {
			h.Logger.Warn("a session's turns are not closed", "error", err)
			continue
		}
		err = h.takeUp(ctx, info)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, eventlog.ErrNotOwner) { // the others are to work
			h.Logger.Error("turns that were cut off could not be closed: the session's next prompt tries again", "session", info.ID, "error", err)
		}
	}
	return nil
}

// takeUp goes on with the open turns of a session, or closes them. It takes the session first: if
// another gateway owns the session, the turns are that gateway's, and the error is ErrNotOwner.
func (h *Hub) takeUp(ctx context.Context, info Info) error {
	entry, err := info.entry()
	if err != nil {
		return err
	}
	if _, err := h.Log.AppendWith(ctx, entry, "", nil); err != nil { // as it is on record, so it changes nothing
		return fmt.Errorf("take session %q: %w", info.ID, err)
	}
	now, err := h.standing(ctx, info.ID)
	if err == nil {
		info, err = h.read(ctx, info.ID) // another gateway may have written before
	}
	if err != nil {
		return err
	}
	l := h.newSession(info)
	l.standing = now
	err = l.closeOrphans(ctx, restarted())
	if h.ifInMemory(l.id) != l { // else it is in memory, with what goes on
		l.end()
	}
	return err
}

// restarted is the end of a turn whose process is gone.
func restarted() trace.Stop {
	return failed(trace.ReasonRestart, "The gateway was restarted while this turn ran, so it was not finished.")
}

// closeOrphans goes on with the turns on the session's list that do not run and whose agent lives
// elsewhere, and closes the others: an earlier process or another gateway was killed, or the log failed.
func (l *activeSession) closeOrphans(ctx context.Context, stop trace.Stop) error {
	if len(l.orphans()) == 0 {
		return nil
	}
	unlock, err := l.lockHistory(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	l.mu.Lock()
	taken := !l.hub.shared || l.standing.taken
	l.mu.Unlock()
	if !taken { // before the agent's server hears of it: another gateway may do the same
		if err := l.save(ctx); err != nil {
			return err
		}
	}
	if err := l.hub.reattach(ctx, l); err != nil {
		return err
	}
	for _, ref := range l.orphans() {
		if err := l.closeOrphan(ctx, ref, stop); err != nil {
			return err
		}
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

// isOrphan reports whether a turn is on the list of open turns and does not run here.
func (l *activeSession) isOrphan(turn string) bool {
	return slices.ContainsFunc(l.orphans(), func(r TurnRef) bool { return r.ID == turn })
}

func (l *activeSession) isUnwritten(turn string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, known := l.unwritten[turn]
	return known
}

// load reads a turn that an earlier process left open.
func (l *activeSession) load(ctx context.Context, ref TurnRef) (records []trace.Record, layout thread.Layout, err error) {
	for r, err := range l.records(ctx, Filter{Turn: ref.ID, After: ref.After, Deltas: true}) {
		if err != nil {
			return nil, layout, err
		}
		records = append(records, r)
		layout.Take(r.Seq, r.Payload)
	}
	return records, layout, nil
}

// closeOrphan takes a turn up where its records end, and finishes it. A prompt that waited for
// the agent is held.
func (l *activeSession) closeOrphan(ctx context.Context, ref TurnRef, stop trace.Stop) error {
	records, layout, err := l.load(ctx, ref)
	if err != nil {
		return err
	}
	ran := len(layout.Replies) > 0
	l.mu.Lock()
	unwritten, known := l.unwritten[ref.ID]
	l.mu.Unlock()
	switch {
	case !ran && !known && !ref.Held && len(records) > 0 && !layout.Finished: // it waited for the agent
		l.mu.Lock()
		defer l.mu.Unlock()
		l.noteHeld([]string{ref.ID})
		return nil
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
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.unwritten, ref.ID)
	if l.info.isOpen(ref.ID) { // its stop was on record before
		ends(&l.info)
		l.changes++
	}
	return nil
}
