package permission

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// ErrUnknown says that nothing of that id was asked, or that its turn has been
// forgotten.
var ErrUnknown = errors.New("nothing of this id waits for an answer")

// AnsweredError says that somebody was first.
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

// Desk is where permission requests or questions wait for their answers. It is
// safe for concurrent use.
type Desk[A any] struct {
	now      func() time.Time
	signed   func(A) (by string, outcome trace.PermissionOutcome)
	withdraw func(id string) A

	mu    sync.Mutex
	slips map[string]*slip[A]
	turns map[string][]string // the ids of each turn
}

// slip is one thing that was asked.
type slip[A any] struct {
	record func(A) bool
	done   chan struct{} // closed once answer is on record
	answer A             // set before done is closed
	taken  *AnsweredError
}

// NewRequests returns a Desk for permission requests; now is the clock, time.Now
// if nil.
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

// Open puts a request on the desk, from when on it can be answered. record, if not
// nil, is called once with the answer or the withdrawal, before a waiting caller
// learns of it. record reports false when its turn takes no answers any more; then
// the request counts as withdrawn. An id that lies there already is an error.
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

// Answer ends what was asked, if nobody else has. The error is ErrUnknown or an
// *AnsweredError.
func (d *Desk[A]) Answer(id string, answer A) error {
	s, err := d.take(id, answer)
	if err != nil {
		return err
	}
	return d.settle(s, id, answer, s.record)
}

// AnswerAs is Answer, with another record than the one that Open was given.
func (d *Desk[A]) AnswerAs(id string, answer A, record func(A) bool) error {
	s, err := d.take(id, answer)
	if err != nil {
		return err
	}
	return d.settle(s, id, answer, record)
}

// Recorded is Answer for what is on record already, such as the policy's answer
// or an agent's withdrawal read from the log: record is not called.
func (d *Desk[A]) Recorded(id string, answer A) error { return d.AnswerAs(id, answer, nil) }

// Wait returns the answer. When ctx ends first, what was asked is withdrawn, and
// the answer says so. The only error is ErrUnknown.
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
		<-s.done // whoever was first is about to put it on record
	}
	return s.answer, nil
}

// AwaitRecord waits until the answer that somebody has given is on record. If there
// is no answer, AwaitRecord returns at once.
func (d *Desk[A]) AwaitRecord(id string) {
	d.mu.Lock()
	s := d.slips[id]
	taken := s != nil && s.taken != nil
	d.mu.Unlock()
	if taken {
		<-s.done
	}
}

// Withdraw ends what was asked without an answer, unless it has one.
func (d *Desk[A]) Withdraw(id string) {
	withdrawal := d.withdraw(id)
	if s, err := d.take(id, withdrawal); err == nil {
		_ = d.settle(s, id, withdrawal, s.record) // late or not, it is withdrawn
	}
}

// Pending returns what waits in a turn, in the order in which it was asked.
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

// Forget withdraws what still waits in a turn and forgets all of it.
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

// take reserves the right to answer for the first who comes.
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

// settle puts the answer on record, outside the desk's lock since a log may take
// its time, and then tells who waits.
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
