package session

import (
	"context"
	"slices"
)

// This file stops turns for users.

// StopRequest is a wish to end a turn.
type StopRequest struct {
	Turn string // "" is the running one
	By   string
	// Hold holds the queue if the call ends a turn that had begun: the queue waits for ContinueQueue.
	Hold bool
	// Key names the request: one that is sent again with its key ends nothing more. "" names none.
	Key string
}

// Stopped is what a StopRequest has done.
type Stopped struct {
	Turn     string // the turn that was meant, or ""
	Done     bool   // it was this stop that ended the turn
	Repeated bool   // a stop with the same key came before, and has done this
}

// StopTurn is Stop of the named turn, or of the running one.
func (h *Hub) StopTurn(ctx context.Context, session, id, by string) (stoppedID string, done bool, err error) {
	did, err := h.Stop(ctx, session, StopRequest{Turn: id, By: by})
	return did.Turn, did.Done, err
}

// Stop ends a turn now. The next prompt of the queue begins. Stop is idempotent if it names the turn, and never ends
// another turn. An error after the end says that the stop is not on record yet.
func (h *Hub) Stop(ctx context.Context, session string, s StopRequest) (Stopped, error) {
	return writing(ctx, h, session, func(l *activeSession) (Stopped, error) { return l.stop(ctx, s) })
}

func (l *activeSession) stop(ctx context.Context, s StopRequest) (did Stopped, err error) {
	t, did, known := l.toStop(s)
	if t == nil { // but another gateway may run one, or the stop is not on record yet
		if err := l.takeUpTurns(ctx, restarted()); err != nil {
			return Stopped{}, notLogged(err)
		}
		t, did, known = l.toStop(s)
	}
	if t == nil {
		if !known {
			l.mu.Lock()
			l.noteStop(l.keySuffix(s.By, s.Key), did)
			l.mu.Unlock()
		}
		return did, nil
	}
	if did.Done && !known {
		began := t.standsAt().Began()
		var held []*turn
		if s.Hold && began { // the document goes on record with the stop
			held = l.hold()
		}
		t.writeStop(stopped("stopped"))
		for _, q := range held {
			q.endHeld()
		}
	}
	<-t.ended
	l.mu.Lock()
	err = t.unwritten
	l.mu.Unlock()
	if err != nil {
		return Stopped{}, notLogged(err)
	}
	t.logger.Info("turn stopped", "stopped_by", s.By)
	return did, nil
}

// toStop finds the turn that a stop is to end, and decides its end. Known says that the same stop did so before.
func (l *activeSession) toStop(s StopRequest) (t *turn, did Stopped, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	suffix := l.keySuffix(s.By, s.Key)
	if did, known = l.stopOfKey(suffix); known {
		return l.turns[did.Turn], did, true
	}
	did.Turn = s.Turn
	if t = l.stoppable(s.Turn); t != nil {
		did.Turn, did.Done = t.id, t.decideStop()
		l.noteStop(suffix, did)
	}
	return t, did, false
}

// stoppable is the turn named, or the running one, if it is not over. The caller holds l.mu.
func (l *activeSession) stoppable(id string) *turn {
	if id != "" {
		if t := l.turns[id]; t != nil && !t.state.Stopped() {
			return t
		}
		return nil
	}
	if l.running != nil && !l.running.state.Stopped() {
		return l.running
	}
	for _, t := range l.turns { // a turn that the agent began by itself
		if t.state.Began() && !t.state.Stopped() {
			return t
		}
	}
	return nil
}

// mostStopKeys is how many stops of a session are known by their keys, for as long as the session is in memory.
const mostStopKeys = 64

// keyedStop is what a stop with a key has done.
type keyedStop struct {
	suffix string
	did    Stopped
}

// stopOfKey is what the same stop has done before. The caller holds l.mu.
func (l *activeSession) stopOfKey(suffix string) (did Stopped, known bool) {
	i := slices.IndexFunc(l.stops, func(s keyedStop) bool { return s.suffix == suffix })
	if suffix == "" || i < 0 {
		return did, false
	}
	did = l.stops[i].did
	did.Repeated = true
	return did, true
}

// noteStop remembers what a stop with a key does. The caller holds l.mu.
func (l *activeSession) noteStop(suffix string, did Stopped) {
	if suffix != "" {
		l.stops = append(l.stops[max(0, len(l.stops)-mostStopKeys+1):], keyedStop{suffix, did})
	}
}
