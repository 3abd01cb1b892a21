package permission

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// ErrUnknown says that the desk has no request of that id, or has forgotten its turn.
var ErrUnknown = errors.New("nothing of this id waits for an answer")

// AnsweredError says that the request had its answer already.
type AnsweredError struct {
	By      string
	At      time.Time
	Outcome trace.PermissionOutcome
}

// Error implements error.
func (e *AnsweredError) Error() string {
	at := e.At.UTC().Format(time.RFC3339)
	switch {
	case e.Outcome == trace.Canceled && e.By == "":
		return "this was withdrawn at " + at
	case e.Outcome == trace.Expired:
		return "this expired at " + at
	case e.By == "":
		return "this was answered at " + at
	}
	return fmt.Sprintf("this was answered by %s at %s", e.By, at)
}

// Desk is where permission requests or questions wait for their answers. A Desk is safe
// for concurrent use.
type Desk[A any] struct {
	now      func() time.Time
	signed   func(A) (by string, outcome trace.PermissionOutcome)
	withdraw func(id string) A

	mu    sync.Mutex
	slips map[string]*slip[A]
	turns map[string][]string // the ids of each turn
}

// slip is one request.
type slip[A any] struct {
	record func(A) bool
	done   chan struct{} // closed once answer is on record
	answer A             // set before done is closed
	taken  *AnsweredError
}

// NewRequests returns a Desk for permission requests. now is the clock; nil is time.Now.
func NewRequests(now func() time.Time) *Desk[trace.PermissionResponse] {
	return newDesk(now,
		func(r trace.PermissionResponse) (string, trace.PermissionOutcome) { return r.By, r.Outcome },
		func(id string) trace.PermissionResponse {
			return trace.PermissionResponse{RequestID: id, Outcome: trace.Canceled}
		})
}

// NewQuestions returns a Desk for questions.
func NewQuestions(now func() time.Time) *Desk[trace.Answer] {
	return newDesk(now,
		func(a trace.Answer) (string, trace.PermissionOutcome) { return a.By, a.Outcome },
		func(id string) trace.Answer {
			return trace.Answer{QuestionID: id, Outcome: trace.Canceled, Values: []string{}}
		})
}

func newDesk[A any](now func() time.Time, signed func(A) (string, trace.PermissionOutcome), withdraw func(string) A) *Desk[A] {
	if now == nil {
		now = time.Now
	}
	return &Desk[A]{now: now, signed: signed, withdraw: withdraw, slips: map[string]*slip[A]{}, turns: map[string][]string{}}
}

// Open puts a request on the desk. From then on the request can be answered. An id that is
// on the desk already is an error.
//
// The desk calls record once with the answer or the withdrawal, before a waiting caller
// gets it. If the turn takes no answers any more, record reports false. Then the request
// counts as withdrawn. record may be nil.
func (d *Desk[A]) Open(turn, id string, record func(A) bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.slips[id] != nil {
		return fmt.Errorf("%q was asked before in this session: every request needs an id of its own", id)
	}
	d.slips[id] = &slip[A]{record: record, done: make(chan struct{})}
	d.turns[turn] = append(d.turns[turn], id)
	return nil
}

// Answer answers a request that has no answer. The error is ErrUnknown or an
// *AnsweredError.
func (d *Desk[A]) Answer(id string, answer A) error {
	s, err := d.take(id, answer)
	if err != nil {
		return err
	}
	return d.settle(s, id, answer, s.record)
}

// AnswerAs is Answer with a record of its own in place of the record of Open.
func (d *Desk[A]) AnswerAs(id string, answer A, record func(A) bool) error {
	s, err := d.take(id, answer)
	if err != nil {
		return err
	}
	return d.settle(s, id, answer, record)
}

// Recorded is Answer for an answer that is on record already, such as the policy's answer
// or an agent's withdrawal in the log. Recorded does not call record.
func (d *Desk[A]) Recorded(id string, answer A) error { return d.AnswerAs(id, answer, nil) }

// Wait returns the answer. When ctx ends first, Wait withdraws the request and returns the
// withdrawal. The only error is ErrUnknown.
func (d *Desk[A]) Wait(ctx context.Context, id string) (A, error) {
	d.mu.Lock()
	s := d.slips[id]
	d.mu.Unlock()
	if s == nil {
		var none A
		return none, ErrUnknown
	}
	select {
	case <-s.done:
		return s.answer, nil
	default:
	}
	select {
	case <-s.done:
	case <-ctx.Done():
		d.Withdraw(id)
		<-s.done // the first answer is about to go on record
	}
	return s.answer, nil
}

// AwaitRecord waits until an answer is on record. If the request has no answer,
// AwaitRecord returns at once.
func (d *Desk[A]) AwaitRecord(id string) {
	d.mu.Lock()
	s := d.slips[id]
	taken := s != nil && s.taken != nil
	d.mu.Unlock()
	if taken {
		<-s.done
	}
}

// Withdraw ends a request that has no answer.
func (d *Desk[A]) Withdraw(id string) {
	withdrawal := d.withdraw(id)
	if s, err := d.take(id, withdrawal); err == nil {
		_ = d.settle(s, id, withdrawal, s.record) // a late withdrawal is a withdrawal too
	}
}

// Pending returns the waiting requests of a turn, in the order of their beginning.
func (d *Desk[A]) Pending(turn string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var ids []string
	for _, id := range d.turns[turn] {
		if d.slips[id].taken == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// Forget withdraws the waiting requests of a turn, and forgets all its requests.
func (d *Desk[A]) Forget(turn string) {
	for _, id := range d.Pending(turn) {
		d.Withdraw(id)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range d.turns[turn] {
		delete(d.slips, id)
	}
	delete(d.turns, turn)
}

// take gives the right to answer to the first caller.
func (d *Desk[A]) take(id string, answer A) (*slip[A], error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.slips[id]
	if s == nil {
		return nil, ErrUnknown
	}
	if s.taken != nil {
		first := *s.taken
		return nil, &first
	}
	by, outcome := d.signed(answer)
	s.taken = &AnsweredError{By: by, At: d.now(), Outcome: outcome}
	return s, nil
}

// settle puts the answer on record, and then wakes the waiting callers. A log may be slow,
// so settle does not hold the desk's lock meanwhile.
func (d *Desk[A]) settle(s *slip[A], id string, answer A, record func(A) bool) error {
	defer close(s.done)
	s.answer = answer
	if record == nil || record(answer) {
		return nil
	}
	s.answer = d.withdraw(id)
	d.mu.Lock()
	defer d.mu.Unlock()
	s.taken = &AnsweredError{At: d.now(), Outcome: trace.Canceled}
	first := *s.taken
	return &first
}
