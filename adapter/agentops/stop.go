package agentops

import (
	"context"
	"time"

	wire "github.com/tributary-dev/tributary/agentops"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// stop ends a turn of ours. What stops upstream is always all that runs there: so
// only a turn that runs itself, and alone, is aborted. One that waits is withdrawn.
func (s *session) stop(o *activePrompt) {
	ctx, cancel := context.WithTimeout(s.life, shortTime)
	defer cancel()
	s.awaitNews(ctx, o)
	s.takeBack(ctx, o)
	s.mu.Lock()
	what := s.dec.fate(o.b)
	switch {
	case s.dec.mayAbort(o.b) && !s.canAbort() && !s.rt.PerTurn:
		o.stop = pending
		s.queueStop(o)
		if s.link != shut {
			s.deliverStops()
		}
		posts := s.main == nil && !s.mute
		s.mu.Unlock()
		o.b.End(stoppedHere())
		if posts { // it may be the socket alone that is lost; if not, this is in vain
			_ = s.api.interrupt(ctx, o.caller, s.cfg.SessionID)
		}
		return
	case s.dec.mayAbort(o.b):
		s.mu.Unlock()
		s.abort(ctx, o)
		s.awaitStop(o)
		o.b.End(stoppedHere())
		return
	case what == running:
		s.cfg.Logger.Warn("agentops: a turn was not aborted, because that would have hit another that runs beside it")
	case what == sent, what == queued, what == given: // it may run later, and is aborted then
		if !s.rt.PerTurn {
			s.queueStop(o)
		}
	}
	s.mu.Unlock()
	o.b.End(stoppedHere())
}

// takeBack withdraws a prompt that waits, where that can be done. It returns a moment later
// at most, when it is withdrawn, or was given to the agent after all: what withdraws it goes
// another way than the next prompt, and would withdraw that if it came after it.
func (s *session) takeBack(ctx context.Context, o *activePrompt) {
	s.mu.Lock()
	p := s.dec.promptOf(o.b)
	if p == nil || p.phase != queued {
		s.mu.Unlock()
		return
	}
	p.stopped = true
	s.mu.Unlock()
	s.send(ctx, o.caller, wire.QueueWithdraw{})
	s.poll(ctx, stopTime, func() bool { return p.phase != queued })
}

// abort tells the session agent to stop.
func (s *session) abort(ctx context.Context, o *activePrompt) {
	s.mu.Lock()
	reads := s.main != nil
	// By REST it stops nothing that is told to be at rest and goes on after a loss.
	posts := !s.mute && o.stop == told && (!reads || s.main.who != whoIs(o.caller))
	if data, err := wire.Encode(wire.Abort{}); err == nil {
		s.decode(agent.In, data) // first: what comes from now on is late
	}
	s.mu.Unlock()
	if !posts {
		s.send(ctx, o.caller, wire.Abort{})
		return
	}
	if err := s.api.interrupt(ctx, o.caller, s.cfg.SessionID); err != nil {
		s.cfg.Logger.Warn("agentops: the turn could not be stopped there: " + err.Error())
	}
}

// awaitNews waits a moment for word of a prompt that was only just sent.
func (s *session) awaitNews(ctx context.Context, o *activePrompt) {
	s.poll(ctx, moment, func() bool { return s.dec.fate(o.b) != sent })
}

// awaitStop waits a moment until the session agent has stopped, so that the next
// prompt finds it free.
func (s *session) awaitStop(o *activePrompt) {
	if !s.poll(s.life, stopTime, func() bool { f := s.dec.fate(o.b); return f == 0 || f == ended }) {
		s.settle()
	}
}

// awaitCalm waits a moment until it is told once more that what was stopped is over: a
// prompt that is given to the agent before would be taken for done with it, and none of
// its questions be shown.
func (s *session) awaitCalm(ctx context.Context) {
	s.poll(ctx, moment, func() bool { return !s.dec.twice })
}

// poll waits for something that frames bring, for a bounded time, and reports whether
// it came. Without a connection nothing comes.
func (s *session) poll(ctx context.Context, within time.Duration, holds func() bool) bool {
	return s.watch(ctx, within, func() bool { return holds() || s.main == nil })
}

// watch waits like poll, also for a connection to be there again.
func (s *session) watch(ctx context.Context, within time.Duration, holds func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		s.mu.Lock()
		done, heard := holds(), s.changed
		s.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-heard:
		case <-ctx.Done():
			return false
		}
	}
}

// fate says what became of a prompt of ours, also after its turn here has ended.
func (d *Decoder) fate(b interface{ Turn() string }) phase {
	if p := d.promptOf(b); p != nil {
		return p.phase
	}
	for _, r := range d.runs {
		if r.b.Turn() == b.Turn() {
			return running
		}
	}
	return 0
}

// stoppedHere is the end of a turn that was stopped from here.
func stoppedHere() trace.Stop {
	return trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled}
}
