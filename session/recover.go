package session

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tributary-dev/tributary/trace"
)

// recover closes the turns that an earlier process left open: their agents died
// with it. What clients had seen of them stays, and the stop says what happened.
func (h *Hub) recover(ctx context.Context) error {
	damaged := h.Log.Damaged()
	for e, err := range h.Log.List(ctx) {
		if err != nil {
			return fmt.Errorf("list the sessions: %w", err)
		}
		var info Info
		if err := json.Unmarshal(e.Doc, &info); err != nil {
			h.Logger.Warn("session document cannot be read", "session", e.Session, "error", err)
			continue
		}
		info.Damaged = damaged[e.Session]
		if info.Damaged != "" {
			h.Logger.Error("session is damaged", "session", e.Session, "what", info.Damaged)
		}
		if len(info.Open) == 0 {
			continue
		}
		if err := h.closeLeft(ctx, info); err != nil {
			return err
		}
	}
	return nil
}

func (h *Hub) closeLeft(ctx context.Context, info Info) error {
	l := h.newLive(info)
	for _, ref := range info.Open {
		var records []trace.Record
		over := false
		for r, err := range h.Log.After(ctx, info.ID, ref.After) {
			if err != nil {
				return fmt.Errorf("read the log of session %q: %w", info.ID, err)
			}
			if r.Turn != ref.ID {
				continue
			}
			records = append(records, r)
			if _, ok := r.Payload.(trace.Stop); ok {
				over = true
				break
			}
		}
		if len(records) > 0 && !over {
			if err := l.closeTurn(ref, records); err != nil {
				return err
			}
		}
		if len(records) > 0 && replied(records) {
			ref.EndedAt, ref.Cut = h.Now(), true
			l.info.Last = &ref
		}
		h.Logger.Info("closed a turn that was cut off", "session", info.ID, "turn", ref.ID)
	}
	l.info.Open = nil
	return l.save(ctx)
}

// closeTurn takes the turn up where its records end, and finishes it.
func (l *live) closeTurn(ref TurnRef, records []trace.Record) error {
	stop := failed("restart", "The gateway was restarted while this turn ran, so it was not finished.")
	if !replied(records) {
		stop = stopped("not_run")
	}
	b := trace.Reopen(l.hub.ctx, trace.Config{
		Turn:   ref.ID,
		Now:    l.hub.Now,
		Append: func(ctx context.Context, events []trace.Event) error { return l.append(ctx, ref.ID, events) },
	}, records)
	return b.Finish(stop)
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
