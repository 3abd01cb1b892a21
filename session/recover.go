package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// This file closes the turns that an earlier process left open.

// recover takes up the turns that an earlier process left open. Turns of an agent on another server go on. The other agents
// died with that process, and their turns are closed. Records that clients had seen
// stay, and the stop says what happened.
func (h *Hub) recover(ctx context.Context) error {
	for e, err := range h.Log.List(ctx, eventlog.Query{Limit: 1}) {
		if err != nil {
			return fmt.Errorf("list the sessions: %w", err)
		}
		h.stamp = e.Updated
	}
	for e, err := range h.Log.List(ctx, eventlog.Query{Open: true}) {
		if err != nil {
			return fmt.Errorf("list the sessions with open turns: %w", err)
		}
		info, err := infoOf(e.Session, e.Doc)
		if err != nil {
			h.Logger.Warn("a session's turns are not closed", "error", err)
			continue
		}
		l := h.newSession(info)
		settled, err := h.reattach(ctx, l)
		if err == nil {
			err = l.closeOrphans(ctx, failed(trace.ReasonRestart, "The gateway was restarted while this turn ran, so it was not finished."))
		}
		if !settled { // else it is in memory, with what goes on
			l.end()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // the others are to work
			h.Logger.Error("turns that were cut off could not be closed: the session's next prompt tries again", "session", info.ID, "error", err)
		}
	}
	return nil
}

// closeOrphans closes the turns on the session's list that do not run: an earlier process
// was killed, or the log failed.
func (l *activeSession) closeOrphans(ctx context.Context, stop trace.Stop) error {
	if len(l.orphans()) == 0 {
		return nil
	}
	unlock, err := l.lockHistory(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for _, ref := range l.orphans() {
		if err := l.closeOrphan(ctx, ref, stop); err != nil {
			return err
		}
	}
	return l.save(ctx)
}

func (l *activeSession) orphans() (all []TurnRef) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ref := range l.info.Open {
		if l.turns[ref.ID] == nil {
			all = append(all, ref)
		}
	}
	return all
}

// recordsOf reads a turn, and tells whether it is over.
func (l *activeSession) recordsOf(ctx context.Context, ref TurnRef) (records []trace.Record, over bool, err error) {
	for r, err := range l.hub.Log.After(ctx, l.id, ref.After) {
		if err != nil {
			return nil, false, fmt.Errorf("read the log of session %q: %w", l.id, err)
		}
		if r.Turn != ref.ID {
			continue
		}
		records = append(records, r)
		if _, over = r.Payload.(trace.Stop); over {
			break
		}
	}
	return records, over, nil
}

// closeOrphan takes a turn up where its records end, and finishes it.
func (l *activeSession) closeOrphan(ctx context.Context, ref TurnRef, stop trace.Stop) error {
	records, over, err := l.recordsOf(ctx, ref)
	if err != nil {
		return err
	}
	ran := replied(records)
	if !ran {
		stop = stopped("not_run")
	}
	if len(records) > 0 && !over {
		b := trace.Restore(l.hub.ctx, trace.Config{ //nolint:contextcheck // a stop that was begun is written, also if who asked has left
			Turn: ref.ID,
			Now:  l.hub.Now,
			Append: func(ctx context.Context, events []trace.Event) error {
				_, err := l.append(ctx, ref.ID, events)
				return err
			},
		}, records)
		if err := b.Finish(stop); err != nil {
			return err
		}
	}
	l.loggerOf(ref.ID, askerOf(records), agent.Caller{}).Info("closed a turn that was cut off")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.info.Open = slices.DeleteFunc(l.info.Open, func(r TurnRef) bool { return r.ID == ref.ID })
	// By place in the log: ids sort by a clock that may have been set back.
	if ran && (l.info.Last == nil || ref.After >= l.info.Last.After) {
		ref.EndedAt, ref.Undelivered = l.hub.Now(), true
		l.info.Last = &ref
	}
	return nil
}

// askerOf is who asked for a turn.
func askerOf(records []trace.Record) string {
	for _, r := range records {
		if p, ok := r.Payload.(trace.Prompt); ok {
			return p.By
		}
	}
	return ""
}

// replied reports whether the turn had begun to run.
func replied(records []trace.Record) bool {
	for _, r := range records {
		if _, ok := r.Payload.(trace.Reply); ok {
			return true
		}
	}
	return false
}
