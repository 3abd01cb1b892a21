package session

import (
	"context"
	"slices"
	"sync"

	"github.com/tributary-dev/tributary/session/turnstate"
	"github.com/tributary-dev/tributary/trace"
)

// This file ends the sessions with the gateway.

// Close refuses new prompts, gives running turns until ctx ends to finish, ends
// those that have not, closes the agents and waits. The log stays open. Close waits 15 s longer than
// ctx at most: then the error says that the log hangs.
func (h *Hub) Close(ctx context.Context) error {
	_, err := within(ctx, afterDrain, func() (struct{}, error) {
		h.close(ctx)
		return struct{}{}, nil
	})
	return err
}

func (h *Hub) close(ctx context.Context) {
	h.mu.Lock()
	h.refusing = true
	h.mu.Unlock()
	sessions := h.inMemory()
	for _, l := range sessions {
		h.goes.Go(func() { l.CloseIfIdle() })
	}
	h.Log.GiveBack()
	for _, l := range sessions {
		l.holdNow()
	}
	// No turn begins any more whose prompt is not on record.
	waiting := slices.DeleteFunc(openTurns(sessions), func(t *turn) bool { return !t.standsAt().Waiting() || !t.decides() })
	each(waiting, (*turn).writeStop, stopped("not_run"))
	var left []string
	for _, t := range openTurns(sessions) {
		if t.survivesRestart() && t.detach() { // it has no stop, and another gateway or the next start re-attaches it
			t.leaveLog()
			t.session.saveLater()
			t.leaveReaders()
			left = append(left, t.session.id)
		}
	}
	h.Log.GiveBack(left...)
	for _, t := range openTurns(sessions) {
		if t.standsAt() == turnstate.Paused { // it waits for a person, and that can be long
			continue
		}
		select {
		case <-t.ended:
		case <-ctx.Done():
		}
	}
	each(openTurns(sessions), (*turn).finish, stopped("shutdown"))
	var closing sync.WaitGroup
	for _, l := range sessions {
		closing.Go(l.closeAgent)
	}
	closing.Wait()
	h.stop()
	h.goes.Wait()
	for _, l := range sessions {
		l.end()
		l.mu.Lock()
		stopTimer(&l.closing)
		l.mu.Unlock()
		l.evicting.Stop()
	}
}

func openTurns(sessions []*activeSession) []*turn {
	var open []*turn
	for _, l := range sessions {
		l.mu.Lock()
		for _, t := range l.turns {
			open = append(open, t)
		}
		l.mu.Unlock()
	}
	return open
}

// each calls do with turns side by side: each waits for the log.
func each(turns []*turn, do func(*turn, trace.Stop), s trace.Stop) {
	var all sync.WaitGroup
	for _, t := range turns {
		all.Go(func() { do(t, s) })
	}
	all.Wait()
}
