package agentops

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// declined is what an agent is told that asked a question which nobody here wants to
// answer: no frame says so.
const declined = "The user declined to answer."

// mostStrange bounds how many types of frames are named in the log.
const mostStrange = 64

// apply does what follows from a frame. The caller holds s.mu.
func (s *session) apply(n effects) {
	for _, native := range n.settled {
		s.withdraw(native)
	}
	for _, native := range n.again {
		if tell := s.told[native]; tell != nil {
			tell()
		}
	}
	for _, a := range n.asks {
		s.put(a)
	}
	for _, typ := range n.unknown {
		s.cfg.Meter.Count(agent.UnknownEvent)
		if !slices.Contains(s.strange, typ) && len(s.strange) < mostStrange {
			s.strange = append(s.strange, typ)
			s.cfg.Logger.Warn("agentops: a frame of a type that is not known here was skipped", "type", typ)
		}
	}
}

// withdraw ends the wait for an answer. The caller holds s.mu.
func (s *session) withdraw(native string) {
	delete(s.told, native)
	if cancel, ok := s.asks[native]; ok {
		cancel()
		delete(s.asks, native)
	}
}

// put has somebody answer what the agent asks. The caller holds s.mu.
//
//nolint:contextcheck // what waits outlives the call: it ends with its answer, or with Close
func (s *session) put(a *ask) {
	if s.link == shut {
		return
	}
	caller := s.last
	mine := s.active != nil && s.active.b.Turn() == a.b.Turn()
	if mine {
		caller = s.active.caller
	}
	if a.decided {
		if !mine && s.rt.Token == (Credential{}) {
			return // it was asked of somebody else, and whose token is here has no part in it
		}
		s.goes.Go(func() { s.tell(s.life, caller, a, trace.Answer{}, a.answer) })
		return
	}
	ctx, cancel := context.WithCancel(s.life)
	s.asks[a.native] = cancel
	s.goes.Go(func() {
		defer cancel()
		s.answer(ctx, caller, mine, a)
	})
}

// Introduce implements agent.Introducer: where there is no service token somebody
// answers with a token of his own, which he brings along or has prompted with.
func (s *session) Introduce(by string, c agent.Caller) error {
	if s.rt.Token != (Credential{}) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.known.of(by)
	switch {
	case c.Bearer != "":
		s.known.add(by, c)
	case !known:
		return agent.ErrNotKnownThere
	}
	return nil
}

// answer waits for the answer, and tells it in the name of whoever gave it. What the
// gateway itself says, when nobody did in time, it says to whoever's prompt it was.
func (s *session) answer(ctx context.Context, caller agent.Caller, mine bool, a *ask) {
	var said trace.Answer
	var permit trace.PermissionResponse
	var err error
	if a.question {
		said, err = s.host.Ask(ctx, a.id)
	} else {
		permit, err = s.host.Permit(ctx, a.id)
	}
	s.mu.Lock()
	_, waits := s.asks[a.native]
	delete(s.asks, a.native)
	mayTell := mine || s.rt.Token != (Credential{})
	if by := cmp.Or(said.By, permit.By); by != "" {
		theirs, known := s.known.of(by)
		if mayTell = known || s.rt.Token != (Credential{}); known {
			caller = theirs
		}
	}
	s.mu.Unlock()
	nobody := said.Outcome == trace.Canceled && said.By == "" || permit.Outcome == trace.Canceled && permit.By == ""
	if !waits || err != nil || ctx.Err() != nil || a.b.Over() || nobody {
		return // it was settled there, or the turn is over, or the gateway stops
	}
	if !mayTell {
		a.b.Emit(trace.Error{Message: fmt.Sprintf("The answer to %q was not passed on to Agent Ops, where nobody is known as who gave it.", a.title()), Code: "answer_refused"})
		return
	}
	s.mu.Lock()
	if s.dec.asks[a.native] == a { // it is asked again if the answer is lost on its way
		s.told[a.native] = func() {
			if s.link != shut {
				s.goes.Go(func() { s.tell(s.life, caller, a, said, permit) })
			}
		}
	}
	s.mu.Unlock()
	s.tell(ctx, caller, a, said, permit)
}

// tell tells the session agent an answer.
func (s *session) tell(ctx context.Context, caller agent.Caller, a *ask, said trace.Answer, permit trace.PermissionResponse) {
	s.awaitRunner(ctx)
	if a.question {
		if said.Outcome != trace.Selected {
			said.Values = []string{declined}
		}
		s.send(ctx, caller, a.frame(said, permit))
		return
	}
	err := s.api.decide(ctx, caller, a.native, permit.Allowed(), permit.Reason)
	switch {
	case err == nil, ctx.Err() != nil:
		return
	case lacksRoute(err):
		s.send(ctx, caller, a.frame(said, permit))
		return
	case statusOf(err) == http.StatusForbidden:
		err = fmt.Errorf("Agent Ops did not take the answer to %q: only the owner of the session may give it, and it waits for that", a.title()) //nolint:staticcheck,revive // a sentence for people, which begins with a name
	default:
		err = fmt.Errorf("Agent Ops did not take the answer to %q: %w", a.title(), err) //nolint:staticcheck,revive // as above
	}
	a.b.Emit(trace.Error{Message: err.Error(), Code: "answer_refused"})
}

// title names what was asked.
func (a *ask) title() string {
	if a.call != nil {
		return a.call.name
	}
	return a.native
}
