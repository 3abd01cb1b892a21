package agentops

import (
	"context"
	"slices"
	"time"
)

// queueStop notes that a turn is still to be aborted. The caller holds s.mu.
func (s *session) queueStop(o *activePrompt) {
	if len(s.pendingStops) < mostPrompt {
		s.pendingStops = append(s.pendingStops, o)
	}
}

// deliverStops aborts what was stopped before it ran, as soon as it does, and what was stopped
// while nobody heard of it, as soon as somebody does. The caller holds s.mu.
//
//nolint:contextcheck // telling the other side outlives the frame that brought it about
func (s *session) deliverStops() {
	s.pendingStops = slices.DeleteFunc(s.pendingStops, func(o *activePrompt) bool {
		if !s.dec.mayAbort(o.b) {
			fate := s.dec.fate(o.b)
			return fate == 0 || fate > running
		}
		if !s.canAbort() && s.dec.presence != resuming {
			return false
		}
		s.delivering++
		s.goes.Go(func() { s.deliverStop(o) })
		return true
	})
}

// deliverStop aborts what was stopped earlier. What goes on after a loss is only aborted when it
// does, or when its runner may be at it, for one that is at nothing takes an abort for the
// end of what it is about to begin.
func (s *session) deliverStop(o *activePrompt) {
	defer func() {
		s.mu.Lock()
		s.delivering--
		s.mu.Unlock()
	}()
	s.poll(s.life, shortTime, func() bool { return s.dec.presence != resuming })
	if o.stop != told && !rest(s.life, moment) {
		return
	}
	s.mu.Lock()
	may := s.dec.mayAbort(o.b)
	if may && (!s.mayHaveRunner() || s.dec.presence == arriving) { // lost once more
		s.queueStop(o)
		may = false
	}
	s.mu.Unlock()
	if !may {
		return
	}
	ctx, cancel := context.WithTimeout(s.life, shortTime)
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

// alone reports whether no other turn than that one runs, or is about to: today whatever is
// shown is given to the agent.
func (d *Decoder) alone(b interface{ Turn() string }) bool {
	for _, r := range d.runs {
		if r.b.Turn() != b.Turn() && r.verdict == nil {
			return false
		}
	}
	others := func(p *prompt) bool { return p.phase == given && (p.b == nil || p.b.Turn() != b.Turn()) }
	return !slices.ContainsFunc(d.prompts, others)
}

// awaitStops waits until nothing of ours is left that is to be stopped first: what nobody
// has heard of yet.
func (s *session) awaitStops(ctx context.Context, o *activePrompt) {
	defer s.waits(nil)
	s.waits(o)
	for until := time.Now().Add(longTime); ctx.Err() == nil; {
		s.mu.Lock()
		if time.Now().After(until) {
			s.abandonStops()
		}
		owes, heard := s.stopsPending(), s.changed
		s.mu.Unlock()
		if !owes {
			return
		}
		select {
		case <-heard:
		case <-time.After(moment): // what it waits for may have been given up
		case <-ctx.Done():
		}
	}
}

// waits notes which prompt waits: it is alive.
func (s *session) waits(o *activePrompt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blocked = o
}

// stopsPending reports whether the next prompt has to wait for what is to be stopped. The caller
// holds s.mu.
func (s *session) stopsPending() bool {
	first := func(o *activePrompt) bool { return o.stop == pending }
	return s.delivering > 0 || slices.ContainsFunc(s.pendingStops, first)
}

// abandonStops gives up to stop first what there is no runner to hear of. It is stopped when there
// is one. The caller holds s.mu.
func (s *session) abandonStops() {
	for _, o := range s.pendingStops {
		if o.stop == pending {
			o.stop = late
		}
	}
}
