package session

import (
	"slices"
	"time"

	"github.com/tributary-dev/tributary/session/turnstate"
	"github.com/tributary-dev/tributary/trace"
)

// This file pauses a turn while people are asked, and bounds the wait.

// showRequestsWithin is how long a request waits for the agent to finish writing a call.
// Then the user gets the request all the same.
const showRequestsWithin = 3 * time.Second

// pause has the clocks of a turn whose requests wait. activeSession.mu guards it. The requests
// themselves are the Builder's.
type pause struct {
	shown  time.Time   // when requests were last put to the user
	held   *time.Timer // lets the subscribers leave
	expire *time.Timer // ends the wait of the oldest request
}

func (p *pause) stop() {
	stopTimer(&p.held)
	stopTimer(&p.expire)
}

// requestsChanged brings the turn in line with its requests, which the Builder owns. The
// Builder calls it before the agent gets an answer.
func (t *turn) requestsChanged(answered []trace.Request) {
	for _, r := range answered {
		t.remember(r)
	}
	l := t.session
	defer l.hub.board.changed(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.noteWaiting()
	if t.state.Stopped() {
		return
	}
	waiting := t.builder.Requests()
	stopTimer(&t.pause.expire)
	if len(waiting) > 0 {
		oldest := waiting[0]
		t.pause.expire = time.AfterFunc(max(0, oldest.Opened.Add(l.hub.AnswerLimit).Sub(l.hub.Now())), func() {
			t.expire(func(r trace.Request) bool { return r.ID == oldest.ID })
		})
	}
	var shown time.Time
	for _, r := range waiting {
		if r.Shown.After(shown) {
			shown = r.Shown
		}
	}
	if shown.IsZero() {
		stopTimer(&t.pause.held)
		if t.state == turnstate.Paused {
			t.state.To(turnstate.Running)
		}
		return
	}
	if !t.builder.Held() || !shown.Equal(t.pause.shown) {
		stopTimer(&t.pause.held)
	}
	if t.builder.Held() && t.pause.held == nil {
		t.pause.held = time.AfterFunc(l.hub.HoldLimit, t.builder.EndHold)
	}
	t.pause.shown = shown
	stopTimer(&t.subscribers.grace) // a turn that waits for a person needs no subscriber
	if t.state == turnstate.Running {
		t.state.To(turnstate.Paused)
		t.preemptForQueued()
	}
}

// preemptForQueued ends a turn that has paused if its own user has sent a message since: the
// message waits in the queue, and the user would not see the request. A message that comes
// after the pause does the same. The caller holds activeSession.mu.
func (t *turn) preemptForQueued() {
	l := t.session
	i := slices.IndexFunc(l.queue, func(q *turn) bool { return q.state.Waiting() && q.by == t.by && q.channel == t.channel })
	if l.running != t || i < 0 || !t.decideStop() {
		return
	}
	sender := Sender{By: t.by, Caller: l.queue[i].prompt.Caller}
	l.hub.goes.Go(func() {
		t.refuseAll(sender)
		t.writeStop(stopped(unanswered))
	})
}

// shownRequests are the requests that are with the user.
func (t *turn) shownRequests() (shown []trace.Request) {
	for _, r := range t.builder.Requests() {
		if !r.Shown.IsZero() {
			shown = append(shown, r)
		}
	}
	return shown
}

// expire ends the wait of requests.
func (t *turn) expire(which func(trace.Request) bool) {
	for _, r := range t.builder.Requests() {
		switch {
		case !which(r):
		case r.Question():
			_ = t.builder.Resolve(trace.Answer{QuestionID: r.ID, Outcome: trace.Expired, Values: []string{}}, nil) // an answer that came first counts
		default:
			_ = t.builder.Resolve(trace.PermissionResponse{RequestID: r.ID, Outcome: trace.Expired}, nil)
		}
	}
}

// WaitsSince tells since when the session's agent has only waited for a person. It is zero
// if the agent does something else. Queued prompts do not count.
func (l *activeSession) WaitsSince() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waitSince()
}

func (l *activeSession) waitSince() (since time.Time) {
	for _, t := range l.turns {
		switch {
		case !t.state.Began():
		case t.state != turnstate.Paused:
			return time.Time{}
		case t.pause.shown.After(since):
			since = t.pause.shown
		}
	}
	return since
}

// GiveUpWaiting expires the requests of the session's agent now, if the agent still waits
// as it did then.
func (l *activeSession) GiveUpWaiting(since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.waitSince().Equal(since) {
		return
	}
	for _, t := range l.turns {
		l.hub.goes.Go(func() { t.expire(func(trace.Request) bool { return true }) })
	}
}
