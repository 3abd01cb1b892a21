package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/trace"
)

// This file takes the answers of people to permission requests and questions.

// Choice is an answer to a permission request.
type Choice struct {
	// Option names the chosen option; when it is empty, Approved chooses the
	// option that allows or refuses once.
	Option   string
	Approved *bool
	// Says is an option, or a plain yes or no, in the words of the person who answers.
	Says   string
	Reason string
	// Input replaces the call's input, if the agent takes that.
	Input json.RawMessage
	// Interrupt ends the turn together with a refusal.
	Interrupt bool
}

// says reports whether there is anything in it that can stand beside an answer.
func (c Choice) says() bool { return c.Option != "" || len(c.Input) > 0 || c.Interrupt }

// add takes over what is said beside a choice.
func (c *Choice) add(beside Choice) {
	c.Option = cmp.Or(beside.Option, c.Option)
	if len(beside.Input) > 0 {
		c.Input = beside.Input
	}
	c.Interrupt = c.Interrupt || beside.Interrupt
}

// Permit answers a permission request. The first answer counts, and is on record before the
// agent gets it. A later one gets an AnsweredError.
func (h *Hub) Permit(ctx context.Context, session, requestID string, by Sender, c Choice) (trace.PermissionResponse, error) {
	a, err := h.give(ctx, session, Reply{ID: requestID, Choice: c}, by)
	response, _ := a.(trace.PermissionResponse)
	return response, err
}

// Answer answers a question: with labels of its choices, or with free text.
func (h *Hub) Answer(ctx context.Context, session, questionID string, by Sender, values []string) (trace.Answer, error) {
	a, err := h.give(ctx, session, Reply{ID: questionID, Question: true, Values: values}, by)
	answer, _ := a.(trace.Answer)
	return answer, err
}

func (h *Hub) give(ctx context.Context, session string, r Reply, by Sender) (trace.Payload, error) {
	return writing(ctx, h, session, func(l *activeSession) (trace.Payload, error) {
		return l.give(r, attribution{by, trace.ViaRequest})
	})
}

// Sender is the person who answers, or the program in whose name the answers come, with the token and
// trace context for an agent on another server. If nobody is there to answer, see Hub.Unattended.
type Sender struct {
	By     string
	Caller agent.Caller
	// Key names the request: an answer that is sent again with a key, by the same sender, is no second one.
	Key string
}

// attribution says who answers, and by which way.
type attribution struct {
	who Sender
	via trace.Via
}

// identifyCaller makes the person who answers known to the agent, if the agent wants that.
// An error says why the agent cannot take their answer.
func (l *activeSession) identifyCaller(by Sender) error {
	if s := l.openedAgent(); s != nil {
		return s.Introduce(name(by.By), by.Caller)
	}
	return nil
}

// requested finds a request of the session, in a turn that is not over or, until the next
// turn begins, in the last one.
func (l *activeSession) requested(id string) (t *turn, r trace.Request, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.turns {
		if r, ok := t.builder.Request(id); ok {
			return t, r, nil
		}
	}
	if l.last != nil && (l.running == nil || l.running == l.last) {
		if r, ok := l.last.builder.Request(id); ok {
			return l.last, r, nil
		}
	}
	return nil, r, ErrUnknownRequest
}

// give gives an answer to the request that it is for. A request that has its answer is not known any more, and the
// error says whose answer counts.
func (l *activeSession) give(r Reply, by attribution) (answer trace.Payload, err error) {
	t, request, err := l.requested(r.ID)
	waits := request.Asked != nil
	switch {
	case err != nil:
		return nil, l.notHere(err)
	case waits && request.Question() != r.Question:
		return nil, ErrUnknownRequest
	case by.who.Key != "" && r.repeats(request.Answer, name(by.who.By)):
		if err := t.builder.Flush(); err != nil {
			return nil, notLogged(err)
		}
		return request.Answer, nil
	}
	if answer, err = r.answer(request, by); err == nil && waits {
		err = l.identifyCaller(by.who)
	}
	if err == nil {
		err = known(t.builder.Resolve(answer, nil))
	}
	return answer, err
}

// answer is what goes on record of a reply.
func (r Reply) answer(to trace.Request, by attribution) (trace.Payload, error) {
	if !r.Question {
		var response trace.PermissionResponse
		if asked, waits := to.Asked.(trace.PermissionRequest); waits {
			var err error
			if response, err = r.Choice.response(asked.Options); err != nil {
				return nil, &ChoiceError{err.Error()}
			}
		}
		response.RequestID, response.By, response.Via = r.ID, name(by.who.By), by.via
		response.UpdatedInput, response.Interrupt = r.Choice.Input, r.Choice.Interrupt
		return response, nil
	}
	asked, waits := to.Asked.(trace.Question)
	answer := trace.Answer{QuestionID: r.ID, Outcome: trace.Selected, Values: r.Values, By: name(by.who.By), Via: by.via}
	switch n := len(r.Values); {
	case n == 0 && by.via != trace.ViaRequest: // it is declined
		answer.Outcome, answer.Values, answer.Reason = trace.Canceled, []string{}, r.Reason
	case waits && (n == 0 || n > 1 && !asked.Multiple):
		return nil, &ChoiceError{"answer this question with exactly one value"}
	}
	return answer, nil
}

func (c Choice) response(options []trace.PermissionOption) (trace.PermissionResponse, error) {
	switch {
	case c.Says != "":
		word, is := permission.FromText(options, c.Says)
		if r, err := permission.FromOption(options, c.Says, c.Reason); err == nil || !is {
			return r, err
		}
		word.Reason = c.Reason
		return word, nil
	case c.Option != "":
		r, err := permission.FromOption(options, c.Option, c.Reason)
		if err == nil && c.Approved != nil && r.Allowed() != *c.Approved {
			err = fmt.Errorf("the option %q and `approved` contradict each other: leave one of them out", c.Option)
		}
		return r, err
	case c.Approved != nil:
		return permission.FromApproval(options, *c.Approved, c.Reason)
	}
	return trace.PermissionResponse{}, errors.New("say `approved` (true or false), or name an `option` of the request")
}

// ByNobody is who has answered a request when no person was there.
const ByNobody = "nobody"

// Unattended answers a request of a session in which no person is there to answer, such as that of a
// script. A permission is denied, and a question expires. The answer is the gateway's own, by
// [ByNobody]: a reader of the trace must not take it for a person's. The agent gets the reason.
func (h *Hub) Unattended(ctx context.Context, session, requestID, reason string) error {
	return h.use(ctx, session, func(l *activeSession) error {
		t, request, err := l.requested(requestID)
		if err != nil {
			return err
		}
		if request.Question() {
			return known(t.builder.ResolveUnasked(trace.Answer{QuestionID: requestID, Outcome: trace.Expired, Values: []string{}, Reason: reason, By: ByNobody}))
		}
		asked, _ := request.Asked.(trace.PermissionRequest)
		response, err := permission.FromApproval(asked.Options, false, reason)
		if err != nil {
			return &ChoiceError{err.Error()}
		}
		response.RequestID, response.By = requestID, ByNobody
		return known(t.builder.ResolveUnasked(response))
	})
}

// known turns the Builder's ignorance of a request into an answer for the caller.
func known(err error) error {
	if errors.Is(err, trace.ErrNoRequest) {
		return ErrUnknownRequest
	}
	return err
}

// name makes sure that a person's answer is not taken for the gateway's own.
func name(by string) string { return cmp.Or(by, "user") }
