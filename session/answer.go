package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// ask is a permission request or a question that a person has to answer.
type ask struct {
	turn       string
	permission *trace.PermissionRequest
	question   *trace.Question
	answered   chan struct{}

	// Set before answered is closed.
	response trace.PermissionResponse
	answer   trace.Answer
	by       string
	at       time.Time
}

// Choice is an answer to a permission request.
type Choice struct {
	// Option is the id of the chosen option; when it is empty, Approved chooses
	// the option that allows or refuses once.
	Option   string
	Approved *bool
	Reason   string
	// Input replaces the call's input, if the agent takes that.
	Input json.RawMessage
	// Interrupt ends the turn together with a refusal.
	Interrupt bool
}

// noticeAsk learns of requests and answers from what goes on record, whoever
// wrote it: a person by way of Answer, the policy, or the agent by withdrawing.
func (l *live) noticeAsk(turn string, p trace.Payload) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch p := p.(type) {
	case trace.PermissionRequest:
		l.newAsk(p.RequestID, &ask{turn: turn, permission: &p})
	case trace.Question:
		l.newAsk(p.QuestionID, &ask{turn: turn, question: &p})
	case trace.PermissionResponse:
		if a := l.asks[p.RequestID]; a != nil && a.turn == turn && a.permission != nil {
			a.response = p
			a.settle(p.By, l.hub.Now())
		}
	case trace.Answer:
		if a := l.asks[p.QuestionID]; a != nil && a.turn == turn && a.question != nil {
			a.answer = p
			a.settle(p.By, l.hub.Now())
		}
	case trace.Reply:
		for id, a := range l.asks { // answers stay known until the next turn
			if a.turn != turn && a.settled() {
				delete(l.asks, id)
			}
		}
	default:
	}
}

func (l *live) newAsk(id string, a *ask) {
	a.answered = make(chan struct{})
	l.asks[id] = a
	close(l.noticed)
	l.noticed = make(chan struct{})
}

func (a *ask) settle(by string, at time.Time) {
	if !a.settled() {
		a.by, a.at = by, at
		close(a.answered)
	}
}

func (a *ask) settled() bool {
	select {
	case <-a.answered:
		return true
	default:
		return false
	}
}

// Permit answers a permission request. The first answer counts and is recorded
// before the agent hears of it; a later one gets an AnsweredError.
func (h *Hub) Permit(ctx context.Context, session, requestID, by string, c Choice) (trace.PermissionResponse, error) {
	l, t, a, err := h.open(ctx, session, requestID)
	if err != nil {
		return trace.PermissionResponse{}, err
	}
	if a.permission == nil {
		return trace.PermissionResponse{}, ErrUnknownRequest
	}
	option, err := c.choose(a.permission.Options)
	if err != nil {
		return trace.PermissionResponse{}, err
	}
	response := trace.PermissionResponse{
		RequestID: requestID, Outcome: trace.Selected, ChosenOption: option.ID, OptionKind: option.OptionKind,
		UpdatedInput: c.Input, By: name(by), Reason: c.Reason, Interrupt: c.Interrupt,
	}
	if !t.builder.PermissionResponse(response) {
		return trace.PermissionResponse{}, l.lost(ctx, a)
	}
	return response, l.recorded(ctx, a)
}

// Answer answers a question: with labels of its choices, or with free text.
func (h *Hub) Answer(ctx context.Context, session, questionID, by string, values []string) (trace.Answer, error) {
	l, t, a, err := h.open(ctx, session, questionID)
	if err != nil {
		return trace.Answer{}, err
	}
	if a.question == nil {
		return trace.Answer{}, ErrUnknownRequest
	}
	if len(values) == 0 || len(values) > 1 && !a.question.Multiple {
		return trace.Answer{}, &ChoiceError{"answer this question with exactly one value"}
	}
	answer := trace.Answer{QuestionID: questionID, Outcome: trace.Selected, Values: values, By: name(by)}
	if !t.builder.Answer(answer) {
		return trace.Answer{}, l.lost(ctx, a)
	}
	return answer, l.recorded(ctx, a)
}

// open finds a request that may still be answered, and its turn.
func (h *Hub) open(ctx context.Context, session, id string) (*live, *turn, *ask, error) {
	l, err := h.session(ctx, session)
	if err != nil {
		return nil, nil, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.asks[id]
	if a == nil {
		return nil, nil, nil, ErrUnknownRequest
	}
	if a.settled() {
		return nil, nil, nil, a.error()
	}
	t := l.turns[a.turn]
	if t == nil {
		return nil, nil, nil, ErrUnknownRequest
	}
	return l, t, a, nil
}

// recorded waits until the answer is on record.
func (l *live) recorded(ctx context.Context, a *ask) error {
	select {
	case <-a.answered:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the answer was taken, but its record was not awaited: %w", ctx.Err())
	}
}

// lost tells who was first.
func (l *live) lost(ctx context.Context, a *ask) error {
	if err := l.recorded(ctx, a); err != nil {
		return err
	}
	return a.error()
}

func (a *ask) error() error {
	outcome := string(a.response.Outcome)
	switch {
	case a.question != nil && a.answer.Outcome == trace.Selected:
		outcome = strings.Join(a.answer.Values, ", ")
	case a.question != nil:
		outcome = string(a.answer.Outcome)
	case a.response.Outcome == trace.Selected && a.response.Allowed():
		outcome = "allowed"
	case a.response.Outcome == trace.Selected:
		outcome = "refused"
	}
	return &AnsweredError{By: a.by, At: a.at, Outcome: outcome}
}

// choose finds the option that is meant, never by a guess at its id.
func (c Choice) choose(options []trace.PermissionOption) (trace.PermissionOption, error) {
	var ids []string
	want := trace.RejectOnce
	if c.Approved != nil && *c.Approved {
		want = trace.AllowOnce
	}
	for _, o := range options {
		ids = append(ids, o.ID)
		if c.Option != "" && o.ID == c.Option || c.Option == "" && c.Approved != nil && o.OptionKind == want {
			return o, nil
		}
	}
	if c.Option == "" && c.Approved == nil {
		return trace.PermissionOption{}, &ChoiceError{"say `approved` (true or false) or an `option`: " + strings.Join(ids, ", ")}
	}
	return trace.PermissionOption{}, &ChoiceError{"this request has no such option; it has: " + strings.Join(ids, ", ")}
}

// name makes sure that a person's answer is not taken for the gateway's own.
func name(by string) string {
	if by == "" {
		return "user"
	}
	return by
}

// await waits for the end of an ask on the agent's behalf.
func (l *live) await(ctx context.Context, id string) (*ask, error) {
	for {
		l.mu.Lock()
		a, noticed := l.asks[id], l.noticed
		l.mu.Unlock()
		if a == nil { // the decoder has written it, the log has not taken it yet
			select {
			case <-noticed:
				continue
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-l.hub.ctx.Done():
				return nil, ErrClosing
			}
		}
		select {
		case <-a.answered:
			return a, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
