package agentops

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// declined is the answer to a question that nobody here wants to answer: no frame says so.
const declined = "The user declined to answer."

// perform does what follows from a frame. The caller holds s.mu.
func (s *session) perform(effects []agent.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case agent.Withdraw:
			s.withdraw(e.Native)
		case agent.Permit:
			s.request(e.Native)
		case agent.Ask:
			s.request(e.Native)
		case agent.Send, agent.Resume: // the Decoder has none
		}
	}
}

// withdraw ends the wait for an answer. The caller holds s.mu.
func (s *session) withdraw(native string) {
	delete(s.answered, native)
	if cancel, ok := s.asks[native]; ok {
		cancel()
		delete(s.asks, native)
	}
}

// withdrawAll ends the wait for all answers. The caller holds s.mu.
func (s *session) withdrawAll() {
	for native := range s.asks {
		s.withdraw(native)
	}
	clear(s.answered)
}

// request waits for the answer to a request of the agent. A request that comes again, although
// it was answered, gets its answer again. The caller holds s.mu.
//
//nolint:contextcheck // the wait outlives the frame: it ends with the answer, or with Close
func (s *session) request(native string) {
	a := s.dec.asks[native]
	if a == nil || s.link == shut || s.asks[native] != nil {
		return
	}
	if again := s.answered[native]; again != nil {
		again()
		return
	}
	caller := s.last
	mine := s.active != nil && s.active.b.Turn() == a.b.Turn()
	if mine {
		caller = s.active.caller
	}
	mayTell := mine || s.rt.Token != (Credential{})
	if a.policy != nil {
		if mayTell { // a user's own token has no part in what others are asked
			s.deliver(caller, a, trace.Answer{}, *a.policy)
		}
		return
	}
	ctx, cancel := context.WithCancel(s.life)
	s.asks[native] = cancel
	s.goes.Go(func() {
		defer cancel()
		s.answer(ctx, caller, mayTell, a)
	})
}

// Introduce implements agent.CallerAware: without a service token users answer with their own
// tokens, which come with the answer or came with a prompt.
func (s *session) Introduce(by string, c agent.Caller) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.callers[by]
	switch {
	case s.rt.Token != (Credential{}):
	case c.Bearer != "":
		s.remember(by, c)
	case !known:
		return agent.ErrNotKnownThere
	}
	return nil
}

// answer waits for the answer, and delivers it in the name of its giver. An answer of the
// gateway itself, when nobody gave one in time, is given by the user of the prompt.
func (s *session) answer(ctx context.Context, caller agent.Caller, mayTell bool, a *ask) {
	var said trace.Answer
	var permit trace.PermissionResponse
	var err error
	if a.question {
		said, err = s.host.Ask(ctx, a.id)
	} else {
		permit, err = s.host.Permit(ctx, a.id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, waits := s.asks[a.native]
	delete(s.asks, a.native)
	by := cmp.Or(said.By, permit.By)
	canceled := by == "" && (said.Outcome == trace.Canceled || permit.Outcome == trace.Canceled)
	if !waits || err != nil || ctx.Err() != nil || a.b.Over() || canceled {
		return // it was settled there, or the turn is over, or the gateway stops
	}
	if theirs, known := s.callers[by]; known {
		caller, mayTell = theirs, true
	} else if by != "" {
		mayTell = s.rt.Token != (Credential{})
	}
	if !mayTell {
		a.b.Emit(trace.Error{Message: fmt.Sprintf("The answer to %q was not sent to Agent Ops, which does not know the person who gave it.", a.name()), Code: "answer_refused"})
		return
	}
	s.deliver(caller, a, said, permit)
}

// deliver sends an answer, and again whenever the session agent asks again. The caller holds
// s.mu.
func (s *session) deliver(caller agent.Caller, a *ask, said trace.Answer, permit trace.PermissionResponse) {
	send := func() {
		if s.link != shut {
			s.goes.Go(func() { s.reply(s.life, caller, a, said, permit) })
		}
	}
	if s.dec.asks[a.native] == a {
		s.answered[a.native] = send
	}
	send()
}

// reply gives an answer to the session agent. After a restart, a session agent
// without a runner would take the answer and lose it.
func (s *session) reply(ctx context.Context, caller agent.Caller, a *ask, said trace.Answer, permit trace.PermissionResponse) {
	s.watch(ctx, runnerTime, func() bool { return s.mayHaveRunner() || s.link == shut })
	if a.question {
		value := declined
		if said.Outcome == trace.Selected {
			value = strings.Join(said.Values, ", ")
		}
		if !slices.ContainsFunc(a.choices, func(c wire.AskAction) bool { return c.Label == value }) {
			value = agentkit.Unmentioned(value, s.host.Files().Contains)
		}
		s.tell(ctx, caller, wire.Answer{QuestionID: a.native, Answer: wire.AnswerValue{Text: value}})
		return
	}
	permit.Reason = agentkit.Unmentioned(permit.Reason, s.host.Files().Contains)
	err := s.api.decide(ctx, caller, a.native, permit.Allowed(), permit.Reason)
	switch {
	case err == nil, ctx.Err() != nil:
		return
	case lacksRoute(err) && permit.Allowed():
		s.tell(ctx, caller, wire.ApproveAction{InvocationID: a.native})
		return
	case lacksRoute(err):
		s.tell(ctx, caller, wire.DenyAction{InvocationID: a.native, Reason: permit.Reason})
		return
	case statusOf(err) == http.StatusForbidden:
		err = fmt.Errorf("Agent Ops did not take the answer to %q: only the owner of the session may give it, and it waits for that", a.name()) //nolint:staticcheck,revive // a sentence for people, which begins with a name
	default:
		err = fmt.Errorf("Agent Ops did not take the answer to %q: %w", a.name(), err) //nolint:staticcheck,revive // as above
	}
	a.b.Emit(trace.Error{Message: err.Error(), Code: "answer_refused"})
}

// name is a name of a request for people.
func (a *ask) name() string {
	if a.call != nil {
		return a.call.name
	}
	return a.native
}
