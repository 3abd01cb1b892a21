package agentops

import (
	"context"
	"slices"
	"time"

	wire "github.com/tributary-dev/tributary/agentops"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// How long telling the other side to stop may take, how long word of what was just
// sent, or stopped, is waited for, and word that it has stopped at all.
const (
	tellWithin    = 2 * time.Second
	newsWithin    = 500 * time.Millisecond
	stoppedWithin = 1500 * time.Millisecond
	runnerWithin  = 10 * time.Second
	rejoinsWithin = 500 * time.Millisecond
	resumesWithin = 2 * time.Second
)

// calmsWithin is how long after its word that it has stopped February's agent may still be
// stopping.
const calmsWithin = 300 * time.Millisecond

// stop ends a turn of ours. What stops upstream is always all that runs there: so
// only a turn that runs itself, and alone, is aborted. One that waits is withdrawn.
func (s *session) stop(o *ours) {
	ctx, cancel := context.WithTimeout(s.life, tellWithin)
	defer cancel()
	s.awaitNews(ctx, o)
	s.takeBack(ctx, o)
	s.mu.Lock()
	what := s.dec.fate(o.b)
	switch {
	case s.dec.mayAbort(o.b) && !s.hears() && !s.rt.PerTurn:
		o.unheard = true
		s.owe(o)
		if !s.shut {
			s.collect()
		}
		posts := s.lead == nil && s.mood.posts()
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
			s.owe(o)
		}
	}
	s.mu.Unlock()
	o.b.End(stoppedHere())
}

// owe notes that a turn is still to be aborted. The caller holds s.mu.
func (s *session) owe(o *ours) {
	if len(s.owed) < mostPrompt {
		s.owed = append(s.owed, o)
	}
}

// reaches reports whether there is a runner as far as is known. The caller holds s.mu.
func (s *session) reaches() bool {
	if s.lead == nil {
		return s.redials == 0
	}
	return s.dec.presence != missing
}

// hears reports whether somebody is there who hears of a stop: a session agent without a
// runner forgets it, and lets the next runner go on with the turn. The caller holds s.mu.
func (s *session) hears() bool {
	return s.reaches() && (s.lead == nil || s.dec.presence == present)
}

// takeBack withdraws a prompt that waits, where that can be done. It returns a moment later
// at most, when it is withdrawn, or was given to the agent after all: what withdraws it goes
// another way than the next prompt, and would withdraw that if it came after it.
func (s *session) takeBack(ctx context.Context, o *ours) {
	s.mu.Lock()
	p, posts := s.dec.promptOf(o.b), s.mood.posts()
	if p == nil || p.phase != queued || !posts {
		s.mu.Unlock()
		return
	}
	p.stopped = true
	s.mu.Unlock()
	s.send(ctx, o.caller, wire.QueueWithdraw{})
	s.poll(ctx, stoppedWithin, func() bool { return p.phase != queued })
}

// abort tells the session agent to stop.
func (s *session) abort(ctx context.Context, o *ours) {
	s.mu.Lock()
	reads := s.lead != nil
	// By REST it stops nothing that is told to be at rest and goes on after a loss.
	posts := s.mood.posts() && !o.unheard && (!reads || s.lead.who != whoIs(o.caller))
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
func (s *session) awaitNews(ctx context.Context, o *ours) {
	s.poll(ctx, newsWithin, func() bool { return s.dec.fate(o.b) != sent })
}

// awaitStop waits a moment until the session agent has stopped, so that the next
// prompt finds it free.
func (s *session) awaitStop(o *ours) {
	if !s.poll(s.life, stoppedWithin, func() bool { f := s.dec.fate(o.b); return f == 0 || f == ended }) {
		s.settle()
	}
}

// awaitCalm waits a moment until it is told once more that what was stopped is over: a
// prompt that is given to the agent before would be taken for done with it, and none of
// its questions be shown.
func (s *session) awaitCalm(ctx context.Context) {
	s.poll(ctx, newsWithin, func() bool { return !s.dec.twice })
	s.mu.Lock()
	calm := calmsWithin - time.Since(s.stopped)
	s.mu.Unlock()
	if calm <= 0 {
		return
	}
	select {
	case <-time.After(calm):
	case <-ctx.Done():
	}
}

// heardOfStop notes when it was told that something has stopped. February's runner says so
// before the agent has, and takes what the agent says of it for the end of what it is given
// next. The caller holds s.mu.
func (s *session) heardOfStop() {
	if s.dec.twice && s.dec.era == wire.Feb {
		s.stopped = time.Now()
	}
}

// awaitOwed waits until nothing of ours is left that is to be stopped first: what nobody
// has heard of yet, or what waits where a prompt cannot be withdrawn, for there stopping
// throws out all that wait, also the next one.
func (s *session) awaitOwed(ctx context.Context, o *ours) {
	for late := time.After(runnerWithin); ctx.Err() == nil; {
		s.mu.Lock()
		owes, heard := s.owes(), s.news
		s.behind = nil
		if owes {
			s.behind = o
		}
		s.mu.Unlock()
		if !owes {
			return
		}
		select {
		case <-heard:
		case <-time.After(newsWithin): // what it waits for may have been given up
		case <-late:
			s.mu.Lock()
			s.letBe()
			s.mu.Unlock()
		case <-ctx.Done():
		}
	}
}

// owes reports whether the next prompt has to wait for what is to be stopped. The caller
// holds s.mu.
func (s *session) owes() bool {
	first := func(o *ours) bool { return o.unheard && !o.late }
	return s.halting > 0 || s.mood.older && len(s.owed) > 0 || slices.ContainsFunc(s.owed, first)
}

// letBe gives up to stop first what there is no runner to hear of. It is stopped when there
// is one, where that does not throw out what waits then. The caller holds s.mu.
func (s *session) letBe() {
	s.owed = slices.DeleteFunc(s.owed, func(o *ours) bool {
		o.late = o.unheard
		return o.late && s.mood.older
	})
}

// awaitRunner waits a while until there is a runner that an answer can be handed to: one
// that comes while a session agent that was started anew has none yet is taken, and lost.
func (s *session) awaitRunner(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, runnerWithin)
	defer cancel()
	for {
		s.mu.Lock()
		there, heard := s.reaches() || s.shut, s.news
		s.mu.Unlock()
		if there {
			return
		}
		select {
		case <-heard:
		case <-ctx.Done():
			return
		}
	}
}

// poll waits for something that frames bring, for a bounded time, and reports whether
// it came. Without a line nothing comes.
func (s *session) poll(ctx context.Context, within time.Duration, holds func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		s.mu.Lock()
		done, heard := holds() || s.lead == nil, s.news
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

// collect aborts what was stopped before it ran, as soon as it does, and what was stopped
// while nobody heard of it, as soon as somebody does. The caller holds s.mu.
//
//nolint:contextcheck // telling the other side outlives the frame that brought it about
func (s *session) collect() {
	s.owed = slices.DeleteFunc(s.owed, func(o *ours) bool {
		if !s.dec.mayAbort(o.b) || !s.dec.takenUp(o.b) {
			fate := s.dec.fate(o.b)
			return fate == 0 || fate > running
		}
		if !s.hears() && s.dec.presence != resuming {
			return false
		}
		s.halting++
		s.goes.Go(func() { s.halt(o) })
		return true
	})
}

// halt aborts what was stopped earlier. What goes on after a loss is only aborted when it
// does, or when its runner may be at it, for one that is at nothing takes an abort for the
// end of what it is about to begin.
func (s *session) halt(o *ours) {
	defer func() {
		s.mu.Lock()
		s.halting--
		s.mu.Unlock()
	}()
	s.poll(s.life, resumesWithin, func() bool { return s.dec.presence != resuming })
	if o.unheard && !s.rest(rejoinsWithin) {
		return
	}
	s.mu.Lock()
	may := s.dec.mayAbort(o.b)
	if may && (!s.reaches() || s.dec.presence == arriving) { // lost once more
		s.owe(o)
		may = false
	}
	s.mu.Unlock()
	if !may {
		return
	}
	ctx, cancel := context.WithTimeout(s.life, tellWithin)
	defer cancel()
	s.abort(ctx, o)
	s.awaitStop(o)
}

// mayAbort reports whether an abort would stop that turn and no other. What is given to
// the agent may still have to wait there: for a turn of which nothing was seen yet.
func (d *Decoder) mayAbort(b interface{ Turn() string }) bool {
	fate := d.fate(b)
	return d.alone(b) && (fate == running || fate == given && !d.unseen)
}

// takenUp reports whether the agent has begun to answer a prompt. February's runner stops
// nothing that it has not yet passed on to the agent, and passes it on all the same.
func (d *Decoder) takenUp(b interface{ Turn() string }) bool {
	for _, r := range d.runs {
		if r.b.Turn() == b.Turn() && r.turn != nil {
			return true
		}
	}
	return d.era != wire.Feb
}

// alone reports whether no other turn than that one runs.
func (d *Decoder) alone(b interface{ Turn() string }) bool {
	for _, r := range d.runs {
		if r.b.Turn() != b.Turn() && r.verdict == nil {
			return false
		}
	}
	return true
}

// stoppedHere is the end of a turn that was stopped from here.
func stoppedHere() trace.Stop {
	return trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled}
}
