package trace

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// This file has the requests of a turn, and takes their answers.

// The requests of a turn have one owner, the Builder. It opens a request, takes one answer,
// and lets the agent wait for that answer.

// ErrNoRequest says that a turn has no request of that id.
var ErrNoRequest = errors.New("nothing of this id waits for an answer")

// Request is a permission request or a question of a turn.
type Request struct {
	ID string
	// Asked is the PermissionRequest or the Question. A request that has its answer may
	// have none.
	Asked Payload
	// Call is the call that the request is about, as it is on record. Only Requests sets Call.
	Call ToolCall
	// Answer is the PermissionResponse or the Answer, or nil while the request waits.
	Answer Payload
	// Opened is when the request was made, Shown when it was put to the user, if it was,
	// and Answered when it got its answer.
	Opened, Shown, Answered time.Time
}

// Question reports whether the request is a question.
func (r Request) Question() bool { _, is := r.Asked.(Question); return is }

// ToolCallID is the id of the call that the request is about, or "".
func (r Request) ToolCallID() string {
	if q, is := r.Asked.(Question); is {
		return q.ToolCallID
	}
	p, _ := r.Asked.(PermissionRequest)
	return p.ToolCallID
}

// AnsweredError says that a request had its answer already.
type AnsweredError struct {
	By      string
	At      time.Time
	Outcome PermissionOutcome
}

// Error implements error.
func (e *AnsweredError) Error() string {
	at := e.At.UTC().Format(time.RFC3339)
	switch {
	case e.Outcome == Canceled && e.By == "":
		return "this was withdrawn at " + at
	case e.Outcome == Expired:
		return "this expired at " + at
	case e.By == "":
		return "this was answered at " + at
	}
	return fmt.Sprintf("this was answered by %s at %s", e.By, at)
}

// request is a Request with the Builder's own notes.
type request struct {
	Request
	question bool
	event    string
	toolCall *call
	options  []PermissionOption
	decided  bool          // answered without asking a person
	overdue  bool          // it has waited long enough for a call to be written
	answered chan struct{} // closed when it has its answer, and the owner of the turn knows
	recorded int           // the number of queued events with the answer
}

func (q *request) done() bool { return q.Answer != nil }

// canceled is the answer that withdraws the request.
func (q *request) canceled() Payload {
	if q.question {
		return Answer{QuestionID: q.ID, Outcome: Canceled, Values: []string{}}
	}
	return PermissionResponse{RequestID: q.ID, Outcome: Canceled}
}

// first says who answered the request.
func (q *request) first() *AnsweredError {
	e := AnsweredError{At: q.Answered, Outcome: Canceled}
	if r, is := q.Answer.(PermissionResponse); is {
		e.By, e.Outcome = r.By, r.Outcome
	}
	if a, is := q.Answer.(Answer); is {
		e.By, e.Outcome = a.By, a.Outcome
	}
	return &e
}

// Request returns a request of the turn, with or without an answer.
func (b *Builder) Request(id string) (Request, bool) {
	t := b.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	if q := t.requests[id]; q != nil {
		return q.Request, true
	}
	return Request{}, false
}

// Requests returns the requests that wait for an answer, in the order in which they were
// made.
func (b *Builder) Requests() []Request {
	t := b.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []Request
	if t.waiting == 0 || t.done {
		return nil
	}
	for _, q := range t.inOrder {
		if q.done() {
			continue
		}
		r := q.Request
		if q.toolCall != nil {
			r.Call = q.toolCall.tool
		}
		all = append(all, r)
	}
	return all
}

// Resolve answers a request with a PermissionResponse or an Answer, for a person. The
// first answer counts. Resolve returns when the answer is on record; the agent gets it
// then. Words are the message that gives the answer, or nil; they go on record with the
// answer, or not at all. The error is ErrNoRequest or an *AnsweredError.
func (b *Builder) Resolve(answer Payload, in *TextAnswer) error {
	return b.settle(answer, in, false)
}

// ResolveUnasked is Resolve in the name of the gateway: no person was there to answer. The field By
// of the answer may say so.
func (b *Builder) ResolveUnasked(answer Payload) error { return b.settle(answer, nil, true) }

// TextAnswer are a message of the user's that answers what a turn asks, and the
// assistant message that begins below it.
type TextAnswer struct {
	Prompt Prompt
	Reply  Reply
}

func (b *Builder) settle(answer Payload, in *TextAnswer, unasked bool) error {
	id, question := idOf(answer)
	t := b.turn
	t.mu.Lock()
	q := t.requests[id]
	t.mu.Unlock()
	if q == nil || q.question != question {
		return ErrNoRequest
	}
	mine := false
	b.do(func(t *turn) {
		if mine = !q.done(); mine {
			if in != nil {
				t.putTogether(in.Prompt, in.Reply)
			}
			q.decided = q.decided || unasked
			t.resolve(q, answer)
		}
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine && t.committed(q.recorded) {
		return nil
	}
	if mine { // the log failed: nobody has the answer
		q.Answer = q.canceled()
	}
	return q.first()
}

func idOf(answer Payload) (id string, question bool) {
	if a, is := answer.(Answer); is {
		return a.QuestionID, true
	}
	r, _ := answer.(PermissionResponse)
	return r.RequestID, false
}

// Wait returns the answer to a request when the answer is on record. When ctx ends first,
// Wait withdraws the request. A request that is unknown counts as withdrawn.
func (b *Builder) Wait(ctx context.Context, id string) Payload {
	t := b.turn
	t.mu.Lock()
	q := t.requests[id]
	t.mu.Unlock()
	if q == nil {
		return nil
	}
	select {
	case <-q.answered: // an answer counts though ctx has ended
	default:
		select {
		case <-q.answered:
		case <-ctx.Done():
			b.do(func(t *turn) { t.cancelRequest(q) })
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if q.done() && t.committed(q.recorded) {
		return q.Answer
	}
	return q.canceled()
}

// PermissionResponse puts the one answer to a request on record. It reports false when the
// request is unknown or has its answer.
func (b *Builder) PermissionResponse(r PermissionResponse) (accepted bool) {
	return b.respond(r.RequestID, false, r)
}

// Answer puts the one answer to a question on record. It reports false when the question is
// unknown or has its answer.
func (b *Builder) Answer(a Answer) (accepted bool) { return b.respond(a.QuestionID, true, a) }

func (b *Builder) respond(id string, question bool, answer Payload) (accepted bool) {
	b.do(func(t *turn) {
		q := t.requests[id]
		if accepted = q != nil && q.question == question && !q.done(); accepted {
			t.resolve(q, answer)
		} else {
			t.counts.Orphans++
		}
	})
	return accepted
}

// resolve puts the answer to a request on record.
func (t *turn) resolve(q *request, answer Payload) {
	by := ""
	if a, is := answer.(PermissionResponse); is {
		a.RequestID = q.ID
		for _, o := range q.options {
			if o.ID == a.ChosenOption {
				a.OptionKind = o.OptionKind
			}
		}
		a = a.normalized()
		t.heed(q.toolCall, a)
		answer, by = a, a.By
	}
	if a, is := answer.(Answer); is {
		a.QuestionID = q.ID
		a = a.normalized()
		answer, by = a, a.By
	}
	actor := User
	if by == "" || q.decided {
		actor = Gateway // it withdrew the request, or decided by itself
	}
	t.put(q.event, actor, answer)
	q.Answer, q.Answered, q.recorded = answer, t.touched, t.queued
	t.waiting--
	t.changed, t.resolved = true, append(t.resolved, q)
	t.remove(q)
	t.showNext()
}

// cancelRequest withdraws a request that has no answer.
func (t *turn) cancelRequest(q *request) {
	if !q.done() {
		t.resolve(q, q.canceled())
	}
}

// changes are what the owner of the turn is to know of requests.
type changes struct {
	exceeded Bound
	resolved []*request
	answered []Request // those of them that persons have answered, or the agent has withdrawn
}

// takeChanges returns the changes since the last call, or nil. The caller holds the lock.
func (t *turn) takeChanges() *changes {
	exceeds := t.use.exceeded != 0 && !t.use.told
	if !t.changed && !exceeds {
		return nil
	}
	c := &changes{resolved: t.resolved}
	if exceeds {
		c.exceeded, t.use.told = t.use.exceeded, true
	}
	for _, q := range t.resolved {
		if !q.decided {
			c.answered = append(c.answered, q.Request)
		}
		q.Asked, q.options = nil, nil
	}
	t.resolved, t.changed = nil, false
	t.telling++
	return c
}

// announce tells the owner of the turn that requests have changed. Then the events go to
// the log, and the agent gets the answers. The caller does not hold the lock.
func (t *turn) announce(c *changes) {
	if c == nil {
		return
	}
	if t.RequestsChanged != nil {
		t.RequestsChanged(c.answered)
	}
	if c.exceeded != 0 {
		t.Exceeded(c.exceeded)
	}
	t.mu.Lock()
	t.telling--
	t.cond.Broadcast()
	t.mu.Unlock()
	for _, q := range c.resolved {
		close(q.answered)
	}
}
