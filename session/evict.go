package session

import (
	"context"
	"time"
)

// This file takes unused sessions out of memory.

// A session is in memory while somebody uses it, and for some time after. Every
// user of a session except its turns and its agent must call pin. An evicted
// session must not live on beside the one that is read from the log again. The
// monotonic clock measures the idle time, so that a set clock does not matter.

// pin keeps a session in memory until the returned function is called, once.
// The caller holds h.mu.
func (h *Hub) pin(l *activeSession) (release func()) {
	l.pins++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		l.pins--
		l.used = time.Now()
	}
}

// register puts a session among those in memory. The caller holds h.mu.
func (h *Hub) register(l *activeSession) {
	h.sessions[l.id] = l
	l.used = time.Now()
	l.evicting = time.AfterFunc(h.EvictAfter, func() { h.evict(l) })
}

// evict forgets a session that nobody uses, and else looks again later.
func (h *Hub) evict(l *activeSession) {
	l.mu.Lock()
	unsaved := l.resting() && l.changes != l.kept
	l.mu.Unlock()
	if unsaved {
		l.saveLater()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions[l.id] != l || h.refusing {
		return
	}
	if wait := h.EvictAfter - time.Since(l.used); l.pins > 0 || wait > 0 || l.changes != l.kept || !l.resting() {
		l.evicting.Reset(max(wait, h.EvictAfter/4))
		return
	}
	h.release(l)
}

// release takes a session out of memory. The caller holds l.mu and h.mu.
func (h *Hub) release(l *activeSession) {
	l.evicted = true
	l.end()
	l.evicting.Stop()
	h.left++
	delete(h.sessions, l.id)
}

// resting reports whether no turn and no agent is there. The caller holds l.mu.
func (l *activeSession) resting() bool {
	return l.running == nil && len(l.turns) == 0 && len(l.queue) == 0 && l.slot.state == agentClosed
}

// during is ctx, but it ends with a life too, such as that of the session.
func during(ctx, life context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(life, cancel)
	return ctx, func() { stop(); cancel() }
}
