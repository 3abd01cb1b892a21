package session

import (
	"time"

	"github.com/tributary-dev/tributary/session/turnstate"
	"github.com/tributary-dev/tributary/trace"
)

// presentWithin is how long what is asked waits for the agent to finish writing a
// call before it is put to the user all the same.
const presentWithin = 3 * time.Second

// waiting is what a turn waits for. live.mu guards it.
type waiting struct {
	put    map[string]bool // put to the user and not answered
	since  time.Time       // when that was, last
	parks  int             // how often the turn has put something to the user
	held   *time.Timer     // lets those go who are held
	limits map[string]*limit
}

// limit bounds the wait of one request or question.
type limit struct{ present, expire *time.Timer }

func (l *limit) stop() {
	l.present.Stop()
	l.expire.Stop()
}

// limitWait bounds how long what was asked waits.
func (t *turn) limitWait(id string, expire func()) {
	l := t.live
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.waits.limits == nil {
		t.waits.limits = map[string]*limit{}
	}
	t.waits.limits[id] = &limit{
		present: time.AfterFunc(presentWithin, t.builder.Present),
		expire:  time.AfterFunc(l.hub.AskLimit, expire),
	}
}

// putToUser notes that the turn parks: who follows it leaves, and it does not need
// anybody to go on being there.
func (t *turn) putToUser(p trace.Park) {
	l := t.live
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.waits.put == nil {
		t.waits.put = map[string]bool{}
	}
	for _, id := range p.Requests {
		t.waits.put[id] = true
	}
	t.waits.parks++
	if len(t.waits.put) > 0 {
		t.state.To(turnstate.Paused) // unless it paused before, or is stopped
	}
	t.waits.since = l.hub.Now()
	stopTimer(&t.grace)
	stopTimer(&t.waits.held)
	if p.Held {
		t.waits.held = time.AfterFunc(l.hub.HoldLimit, t.builder.Release)
	}
}

// answered notes that something waits no longer.
func (t *turn) answered(id string) {
	t.live.mu.Lock()
	defer t.live.mu.Unlock()
	if limit, ok := t.waits.limits[id]; ok {
		limit.stop()
		delete(t.waits.limits, id)
	}
	delete(t.waits.put, id)
	if len(t.waits.put) == 0 {
		stopTimer(&t.waits.held)
		if t.state == turnstate.Paused {
			t.state.To(turnstate.Running)
		}
	}
}

// stopWaiting ends all clocks of a turn that is over. The caller holds live.mu.
func (t *turn) stopWaiting() {
	for _, limit := range t.waits.limits {
		limit.stop()
	}
	stopTimer(&t.waits.held)
	t.waits = waiting{parks: t.waits.parks}
}

// waitsSince tells since when the session's agent has done nothing but wait for
// somebody; it is zero if it does something else. A prompt that has not begun is
// nothing that it does.
func (l *live) waitsSince() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waitSince()
}

func (l *live) waitSince() (since time.Time) {
	for _, t := range l.turns {
		switch {
		case !t.state.Began():
		case t.state != turnstate.Paused:
			return time.Time{}
		case t.waits.since.After(since):
			since = t.waits.since
		}
	}
	return since
}

// giveUpWaiting lets what the session's agent has asked expire now, if it still
// waits as it did then.
func (l *live) giveUpWaiting(since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.waitSince().Equal(since) {
		return
	}
	for _, t := range l.turns {
		for _, limit := range t.waits.limits {
			limit.expire.Reset(0)
		}
	}
}
