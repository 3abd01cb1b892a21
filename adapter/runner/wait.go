package runner

import (
	"context"
	"time"

	"github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// Why a turn failed whose runner did not do its part.
const (
	neverCame   = "No runner has connected to this session: start one, then send the message again."
	notReady    = "The runner of this session does not become ready: see in its log why, then send the message again."
	keepsEnding = "The runner of this session was lost each time it had this message: see in its log why."
	stayedAway  = "The runner of this session is gone: start it again, then send the message again."
)

// mostTries is how often a prompt is sent: it may be what ends the runner.
const mostTries = 5

// stopping is how long a runner may take to be done with what it has stopped, which it
// says of no prompt in particular: what it is given before, it takes that for.
const stopping = 2 * time.Second

// What the user sees meanwhile.
const (
	waiting  = "Waiting for the runner of this session."
	repeated = "The runner of this session is gone: the next one gets the prompt again."
)

// alive is how often a turn that waits for its runner says that it is alive.
const alive = 20 * time.Second

// wait drives a turn: it waits for a runner, hands it the prompt, again if need be,
// and waits until it is done.
type wait struct {
	session *session
	turn    *turn
	began   time.Time
	told    string // what the user was told of the wait
}

func (w *wait) run(ctx context.Context) error {
	for {
		again, err := w.step(ctx)
		if !again {
			return err
		}
	}
}

// step does what is to be done now, and waits until something has changed.
func (w *wait) step(ctx context.Context) (again bool, err error) {
	r, t, p := w.session.runtime, w.turn, w.session.post
	p.mu.Lock()
	l, ready, lost, stops, changed := p.line, p.line != nil && p.line.ready, p.lost, p.stops, p.changed
	p.mu.Unlock()
	holder, tries := t.holder()
	sent := tries > 0
	select {
	case <-t.over:
		t.b.End(t.stop())
		return false, nil
	case <-ctx.Done():
		return false, w.abort(ctx, sent)
	default:
	}
	switch {
	case l == nil && !sent:
		w.say(waiting)
		return w.until(ctx, changed, w.since(lost).Add(r.Start), neverCame)
	case l == nil && time.Since(lost) < r.Grace:
		return w.until(ctx, changed, lost.Add(r.Grace), "")
	case l == nil:
		w.say(repeated)
		return w.until(ctx, changed, lost.Add(r.Gone), stayedAway)
	case ready && holder != l && tries >= mostTries:
		t.b.End(trace.Stop{Reason: "agent_lost", Outcome: trace.OutcomeFailed, Error: keepsEnding})
		return false, nil
	case ready && !sent && time.Since(stops) < stopping:
		return w.until(ctx, changed, stops.Add(stopping), "")
	case ready && (!sent || holder != l):
		t.send(l)
		w.told = ""
		if err := l.send(ctx, t.prompt); err != nil { // it is gone, which its reader notices
			p.log("prompt not sent", "error", err)
		}
		return true, nil
	case !sent:
		w.say(waiting)
		return w.until(ctx, changed, w.since(l.since).Add(r.Start), notReady)
	case holder != l: // it may go on with the prompt, or become ready for it
		return w.until(ctx, changed, l.since.Add(r.Gone), stayedAway)
	case t.settled():
		return w.settle(ctx, changed)
	}
	return w.until(ctx, changed, time.Time{}, "")
}

// since is the later of the turn's beginning and a time.
func (w *wait) since(at time.Time) time.Time {
	if at.After(w.began) {
		return at
	}
	return w.began
}

// say tells the user, once, what the turn waits for.
func (w *wait) say(what string) {
	if w.told != what {
		w.told = what
		w.turn.b.Emit(trace.Status{State: trace.StateIdle, Detail: what})
	}
}

// until waits for a change, or to the deadline. If that has a sentence, the turn then
// has failed with it.
func (w *wait) until(ctx context.Context, changed <-chan struct{}, deadline time.Time, sentence string) (again bool, err error) {
	rest := alive
	if !deadline.IsZero() {
		rest = time.Until(deadline)
	}
	if rest <= 0 && sentence != "" {
		w.turn.b.End(trace.Stop{Reason: "agent_lost", Outcome: trace.OutcomeFailed, Error: sentence})
		return false, nil
	}
	timer := time.NewTimer(max(time.Millisecond, min(rest, alive)))
	defer timer.Stop()
	select {
	case <-changed:
	case <-w.turn.heard:
	case <-w.turn.over:
	case <-ctx.Done():
	case <-timer.C:
		if !deadline.IsZero() { // a runner that has the prompt is to say something itself
			w.turn.b.Touch()
		}
	}
	return true, nil
}

// settle waits for the runner's last word after it has said how the turn ended.
func (w *wait) settle(ctx context.Context, changed <-chan struct{}) (again bool, err error) {
	timer := time.NewTimer(w.session.runtime.Settle)
	defer timer.Stop()
	select {
	case <-changed:
	case <-w.turn.heard:
	case <-w.turn.over:
	case <-ctx.Done():
	case <-timer.C:
		w.turn.b.End(w.turn.stop())
		return false, nil
	}
	return true, nil
}

// abort stops the runner and waits until it has stopped. Whoever called Prompt closes
// the session if that takes too long.
func (w *wait) abort(ctx context.Context, sent bool) error {
	s, p := w.session, w.session.post
	w.turn.b.End(trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled})
	p.mu.Lock()
	l := p.line
	if sent && l != nil {
		w.turn.aborted = true
		p.aborts++
	}
	p.mu.Unlock()
	if sent && l != nil {
		_ = l.send(ctx, agentops.Abort{Channel: w.turn.prompt.Channel}) // if it is gone, its reader notices
	}
	for sent && l != nil && s.life.Err() == nil {
		p.mu.Lock()
		here, changed := p.line == l, p.changed
		p.mu.Unlock()
		if !here {
			break
		}
		select {
		case <-w.turn.over:
			return nil
		case <-changed:
		case <-s.life.Done():
		}
	}
	if s.life.Err() != nil {
		return errClosed
	}
	return nil
}
