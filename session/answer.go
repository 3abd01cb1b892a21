package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/permission"
	"github.com/tributary-dev/tributary/trace"
)

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
	if beside.Option != "" {
		c.Option = beside.Option
	}
	if len(beside.Input) > 0 {
		c.Input = beside.Input
	}
	c.Interrupt = c.Interrupt || beside.Interrupt
}

// asks are a session's requests and questions: the desks where they wait, and
// what was asked.
type asks struct {
	requests    *permission.Desk[trace.PermissionResponse]
	questions   *permission.Desk[trace.Answer]
	permissions map[string]asked[trace.PermissionRequest]
	questioned  map[string]asked[trace.Question]
	noticed     chan struct{} // closed and made anew when something is asked
}

// asked is what was asked, and in which turn.
type asked[Q any] struct {
	turn string
	what Q
}

func newAsks(h *Hub) asks {
	return asks{
		requests: permission.NewRequests(h.Now), questions: permission.NewQuestions(h.Now),
		permissions: map[string]asked[trace.PermissionRequest]{}, questioned: map[string]asked[trace.Question]{}, noticed: make(chan struct{}),
	}
}

// noticeAsk learns of requests and answers from the records, whether a person, the
// policy or a withdrawing agent caused them.
func (l *live) noticeAsk(t *turn, p trace.Payload) {
	var err error
	switch p := p.(type) {
	case trace.PermissionRequest:
		err = l.asks.requests.Open(t.id, p.RequestID, func(r trace.PermissionResponse) bool {
			r.RequestID = p.RequestID
			return t.record(p.RequestID, func() bool { return t.builder.PermissionResponse(r) })
		})
		if err == nil {
			l.notice(func() { l.asks.permissions[p.RequestID] = asked[trace.PermissionRequest]{turn: t.id, what: p} })
			t.limitWait(p.RequestID, func() {
				_ = l.asks.requests.Answer(p.RequestID, trace.PermissionResponse{RequestID: p.RequestID, Outcome: trace.Expired})
			})
		}
	case trace.Question:
		err = l.asks.questions.Open(t.id, p.QuestionID, func(a trace.Answer) bool {
			a.QuestionID = p.QuestionID
			return t.record(p.QuestionID, func() bool { return t.builder.Answer(a) })
		})
		if err == nil {
			l.notice(func() { l.asks.questioned[p.QuestionID] = asked[trace.Question]{turn: t.id, what: p} })
			t.limitWait(p.QuestionID, func() {
				_ = l.asks.questions.Answer(p.QuestionID, trace.Answer{QuestionID: p.QuestionID, Outcome: trace.Expired, Values: []string{}})
			})
		}
	case trace.Park:
		t.putToUser(p)
	case trace.PermissionResponse:
		t.answered(p.RequestID)
		if q, ok := lookFor(l, l.asks.permissions, p.RequestID); ok && q.turn == t.id {
			t.remember(q.what, p)
			err = unlessAnswered(l.asks.requests.Recorded(p.RequestID, p))
		}
	case trace.Answer:
		t.answered(p.QuestionID)
		if q, ok := lookFor(l, l.asks.questioned, p.QuestionID); ok && q.turn == t.id {
			err = unlessAnswered(l.asks.questions.Recorded(p.QuestionID, p))
		}
	case trace.Prompt, trace.Reply, trace.Rewind, trace.MessageStart, trace.MessageDelta, trace.Message,
		trace.ThoughtStart, trace.ThoughtDelta, trace.Thought, trace.ToolCallStart, trace.ToolCallDelta, trace.ToolCall,
		trace.ToolResultProgress, trace.ToolResult, trace.Step, trace.Usage, trace.Plan, trace.FileChange,
		trace.Source, trace.File, trace.Data, trace.Error, trace.Status, trace.Stop, trace.Unknown:
		// asks and answers nothing
	}
	if err != nil {
		t.logger.Warn("request or answer not taken", "kind", p.Kind(), "error", err)
	}
}

// record has the turn take an answer that was taken at the desk. It returns when
// the answer is on record, for nobody hears of it before, and reports false where
// that was too late, or could not be written.
func (t *turn) record(id string, take func() bool) (taken bool) {
	t.answered(id) // before whoever answers can send something else
	return take() && t.builder.Flush() == nil
}

// unlessAnswered drops the error of an answer that came by way of the desk.
func unlessAnswered(err error) error {
	if _, answered := errors.AsType[*AnsweredError](err); answered {
		return nil
	}
	return err
}

func (l *live) notice(remember func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	remember()
	close(l.asks.noticed)
	l.asks.noticed = make(chan struct{})
}

// lookFor finds what was asked.
func lookFor[Q any](l *live, among map[string]asked[Q], id string) (asked[Q], bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q, ok := among[id]
	return q, ok
}

// forgetAsks forgets the requests of turns that are over, because the agent may use
// the ids again. Answers stay known until the next turn begins, so that a second
// person who answers learns who was first.
func (l *live) forgetAsks() {
	over := map[string]bool{}
	l.mu.Lock()
	for id, a := range l.asks.permissions {
		if l.turns[a.turn] == nil {
			over[a.turn] = true
			delete(l.asks.permissions, id)
		}
	}
	for id, a := range l.asks.questioned {
		if l.turns[a.turn] == nil {
			over[a.turn] = true
			delete(l.asks.questioned, id)
		}
	}
	l.mu.Unlock()
	for turn := range over {
		l.asks.requests.Forget(turn)
		l.asks.questions.Forget(turn)
	}
}

// Permit answers a permission request. The first answer counts and is written
// before the agent hears of it; a later one gets an AnsweredError.
func (h *Hub) Permit(ctx context.Context, session, requestID string, by Sender, c Choice) (trace.PermissionResponse, error) {
	l, release, err := h.session(ctx, session)
	if err != nil {
		return trace.PermissionResponse{}, err
	}
	defer release()
	return l.permit(requestID, signature{by, trace.ViaRequest}, c)
}

// Sender is the person who answers, with their token and trace context for an agent
// on another server.
type Sender struct {
	By     string
	Caller agent.Caller
}

// signature says who answers, and by which way.
type signature struct {
	who Sender
	via trace.Via
}

// introduce makes the person who answers known to the agent, if the agent wants that.
// An error says why the agent cannot take their answer.
func (l *live) introduce(by Sender) error {
	opened := l.openedAgent()
	if opened == nil {
		return nil
	}
	if i, is := opened.Session.(agent.Introducer); is {
		return i.Introduce(name(by.By), by.Caller)
	}
	return nil
}

func (l *live) permit(requestID string, by signature, c Choice) (trace.PermissionResponse, error) {
	request, ok := lookFor(l, l.asks.permissions, requestID)
	if !ok {
		return trace.PermissionResponse{}, ErrUnknownRequest
	}
	response, err := c.response(request.what.Options)
	if err != nil {
		return trace.PermissionResponse{}, &ChoiceError{err.Error()}
	}
	if err := l.introduce(by.who); err != nil {
		return trace.PermissionResponse{}, err
	}
	response.RequestID, response.By, response.Via = requestID, name(by.who.By), by.via
	response.UpdatedInput, response.Interrupt = c.Input, c.Interrupt
	return response, known(l.asks.requests.Answer(requestID, response))
}

func (c Choice) response(options []trace.PermissionOption) (trace.PermissionResponse, error) {
	switch {
	case c.Says != "":
		if r, err := permission.FromOption(options, c.Says, c.Reason); err == nil || !isWord(options, c.Says) {
			return r, err
		}
		r, _ := permission.FromText(options, c.Says)
		r.Reason = c.Reason
		return r, nil
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

func isWord(options []trace.PermissionOption, says string) bool {
	_, ok := permission.FromText(options, says)
	return ok
}

// Answer answers a question: with labels of its choices, or with free text.
func (h *Hub) Answer(ctx context.Context, session, questionID string, by Sender, values []string) (trace.Answer, error) {
	l, release, err := h.session(ctx, session)
	if err != nil {
		return trace.Answer{}, err
	}
	defer release()
	return l.answer(questionID, signature{by, trace.ViaRequest}, values)
}

func (l *live) answer(questionID string, by signature, values []string) (trace.Answer, error) {
	question, ok := lookFor(l, l.asks.questioned, questionID)
	if !ok {
		return trace.Answer{}, ErrUnknownRequest
	}
	if len(values) == 0 || len(values) > 1 && !question.what.Multiple {
		return trace.Answer{}, &ChoiceError{"answer this question with exactly one value"}
	}
	if err := l.introduce(by.who); err != nil {
		return trace.Answer{}, err
	}
	answer := trace.Answer{QuestionID: questionID, Outcome: trace.Selected, Values: values, By: name(by.who.By), Via: by.via}
	return answer, known(l.asks.questions.Answer(questionID, answer))
}

// known makes the desk's ignorance an answer for the caller.
func known(err error) error {
	if errors.Is(err, permission.ErrUnknown) {
		return ErrUnknownRequest
	}
	return err
}

// name makes sure that a person's answer is not taken for the gateway's own.
func name(by string) string {
	if by == "" {
		return "user"
	}
	return by
}

// await waits for an answer on the agent's behalf. The agent may ask for it
// before the log has taken the request; then it waits for that first.
func await[A any](ctx context.Context, l *live, desk *permission.Desk[A], id string) (A, error) {
	for {
		l.mu.Lock()
		noticed := l.asks.noticed
		l.mu.Unlock()
		answer, err := desk.Wait(ctx, id)
		if !errors.Is(err, permission.ErrUnknown) {
			return answer, err
		}
		select {
		case <-noticed:
		case <-ctx.Done():
			return answer, ctx.Err()
		case <-l.hub.ctx.Done():
			return answer, ErrClosing
		}
	}
}
