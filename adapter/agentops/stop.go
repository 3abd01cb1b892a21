package agentops

import (
	"context"
	"slices"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"

	"github.com/tributary-dev/tributary/agent"
)

// stop ends a turn of this gateway. The server stops all turns of the session, so the gateway
// aborts a turn only if it runs alone. A queued prompt is withdrawn.
func (s *session) stop(o *activePrompt) {
	defer o.b.End(stopped())
	ctx, cancel := context.WithTimeout(s.life, shortTime)
	defer cancel()
	s.poll(ctx, moment, func() bool { return s.dec.fate(o.b) != sent }) // a prompt that was only just sent
	s.withdrawPrompt(ctx, o)
	s.mu.Lock()
	alone, heard, fate := s.dec.mayAbort(o.b), s.canAbort() || s.rt.PerTurn, s.dec.fate(o.b)
	switch {
	case alone && heard:
		s.mu.Unlock()
		s.abort(ctx, o)
		return
	case alone:
		o.stop = pending
		s.queueStop(o)
		if s.link != shut {
			s.deliverStops()
		}
		unread := s.main == nil
		s.mu.Unlock()
		o.b.End(stopped())
		if unread { // perhaps only the socket is lost
			_ = s.api.interrupt(ctx, o.caller, s.cfg.SessionID)
		}
		return
	case fate == running:
		s.cfg.Logger.Warn("agentops: a turn was not aborted, because that would have hit another that runs beside it")
	case fate != 0 && fate <= given && !s.rt.PerTurn: // it may run later
		s.queueStop(o)
	}
	s.mu.Unlock()
}

// withdrawPrompt withdraws a prompt that waits, and returns a moment later at most, when the
// prompt is withdrawn or was given to the agent. The frame goes another way than the next
// prompt, and would withdraw that one if the frame came after it.
func (s *session) withdrawPrompt(ctx context.Context, o *activePrompt) {
	s.mu.Lock()
	p := s.dec.turnOf(o.b)
	waits := p != nil && p.phase == queued
	if waits {
		p.stopped = true
	}
	s.mu.Unlock()
	if waits {
		s.tell(ctx, o.caller, wire.QueueWithdraw{})
		s.poll(ctx, stopTime, func() bool { return p.phase != queued })
	}
}

// abort makes the session agent stop, and waits a moment until it has stopped, so that the next
// prompt finds it free.
func (s *session) abort(ctx context.Context, o *activePrompt) {
	s.mu.Lock()
	// After a loss, an agent may go on that the server counts as idle. A stop by HTTP does not
	// reach such an agent.
	posts := o.stop == deliverable && (s.main == nil || s.main.who != whoIs(o.caller))
	if data, err := wire.Encode(wire.Abort{}); err == nil {
		s.decode(agent.In, data) // first: frames that come from now on are late
	}
	s.mu.Unlock()
	if !posts {
		s.tell(ctx, o.caller, wire.Abort{})
	} else if err := s.api.interrupt(ctx, o.caller, s.cfg.SessionID); err != nil {
		s.cfg.Logger.Warn("agentops: the turn could not be stopped there: " + err.Error())
	}
	over := func() bool { f := s.dec.fate(o.b); return f == 0 || f == ended }
	if !s.poll(s.life, stopTime, over) { //nolint:contextcheck // the stop outlives the caller's patience
		s.settle()
	}
}

// canAbort reports whether somebody hears of a stop: a session agent without a runner forgets
// it, and lets the next runner go on with the turn. Where no connection is open or about to be,
// one is opened for the stop. The caller holds s.mu.
func (s *session) canAbort() bool {
	return s.mayHaveRunner() && (s.main == nil || s.dec.runnerState == present)
}

// queueStop notes that a turn is still to be aborted. The caller holds s.mu.
func (s *session) queueStop(o *activePrompt) {
	if len(s.pendingStops) < mostPrompt {
		s.pendingStops = append(s.pendingStops, o)
	}
}

// deliverStops aborts prompts that were stopped before they ran, as soon as they run, and those
// whose stop reached nobody, as soon as somebody is there. The caller holds s.mu.
//
//nolint:contextcheck // the abort outlives the frame that brings it about
func (s *session) deliverStops() {
	s.pendingStops = slices.DeleteFunc(s.pendingStops, func(o *activePrompt) bool {
		if !s.dec.mayAbort(o.b) {
			fate := s.dec.fate(o.b)
			return fate == 0 || fate > running
		}
		if !s.canAbort() && s.dec.runnerState != resuming {
			return false
		}
		s.delivering++
		s.goes.Go(func() { s.deliverStop(o) })
		return true
	})
}

// deliverStop aborts a prompt that was stopped earlier. A turn that goes on after a loss is aborted
// only when its runner is at work. An idle runner takes an abort for the end of its next prompt.
func (s *session) deliverStop(o *activePrompt) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.delivering--
		s.signal()
	}()
	s.poll(s.life, shortTime, func() bool { return s.dec.runnerState != resuming })
	if o.stop != deliverable && !sleep(s.life, moment) {
		return
	}
	s.mu.Lock()
	may := s.dec.mayAbort(o.b)
	if may && (!s.mayHaveRunner() || s.dec.runnerState == arriving) { // lost once more
		s.queueStop(o)
		may = false
	}
	s.mu.Unlock()
	if may {
		ctx, cancel := context.WithTimeout(s.life, shortTime)
		defer cancel()
		s.abort(ctx, o)
	}
}

// awaitStops makes a prompt wait, for a bounded time, until no stop is pending.
func (s *session) awaitStops(ctx context.Context, o *activePrompt) {
	defer s.block(nil)
	s.block(o)
	none := func() bool {
		return s.delivering == 0 && !slices.ContainsFunc(s.pendingStops, func(o *activePrompt) bool { return o.stop == pending })
	}
	if s.watch(ctx, longTime, none) || ctx.Err() != nil {
		return
	}
	s.watch(ctx, longTime, func() bool { return s.delivering == 0 })
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.pendingStops { // they are aborted when there is a runner
		o.stop = late
	}
}

// block notes which prompt waits for the pending stops: its turn is alive.
func (s *session) block(o *activePrompt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blocked = o
}

// mayAbort reports whether an abort would stop that turn and no other. A prompt that was given
// to the agent may still wait for a turn whose beginning nobody saw.
func (d *Decoder) mayAbort(b turnID) bool {
	fate := d.fate(b)
	if fate != running && (fate != given || d.unseen) {
		return false
	}
	return d.first(func(t *turn) bool {
		other := t.b == nil || t.b.Turn() != b.Turn()
		return other && (t.runs() && t.verdict == nil || t.phase == given)
	}) == nil
}

// unsend forgets a prompt that was refused.
func (d *Decoder) unsend(b turnID) {
	if t := d.turnOf(b); t != nil && t.phase < given {
		d.turns = slices.DeleteFunc(d.turns, func(o *turn) bool { return o == t })
	}
}
