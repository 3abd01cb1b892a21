package agentkit

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// request is an approval or a question that waits for its answer.
type request struct {
	native string
	cancel context.CancelCauseFunc
}

// The causes with which the wait for an answer ends.
var (
	errWithdrawn = errors.New("the agent has withdrawn its request")
	errStopped   = errors.New("the turn is being stopped")
)

// perform starts an effect. The caller holds s.mu, so effects start in order; what
// takes time runs in a goroutine.
func (s *Session) perform(e agent.Effect) {
	switch e := e.(type) {
	case agent.Permit:
		s.await(e.Native, func(ctx context.Context) json.RawMessage {
			if e.Decided != nil {
				return e.Reply(*e.Decided)
			}
			answer, err := s.host.Permit(ctx, e.RequestID)
			if err != nil {
				s.cfg.Logger.Warn("a permission could not be asked for", "error", err)
				answer = trace.PermissionResponse{RequestID: e.RequestID, Outcome: trace.Canceled, Reason: "Permission could not be asked for."}
			}
			answer.Reason = s.unmentioned(answer.Reason)
			return e.Reply(answer)
		})
	case agent.Ask:
		s.await(e.Native, func(ctx context.Context) json.RawMessage {
			answers := make([]trace.Answer, len(e.QuestionIDs))
			for i, id := range e.QuestionIDs {
				var err error
				if answers[i], err = s.host.Ask(ctx, id); err != nil {
					s.cfg.Logger.Warn("a question could not be asked", "error", err)
					answers[i] = trace.Answer{QuestionID: id, Outcome: trace.Canceled}
				}
				answers[i].Values = slices.Clone(answers[i].Values)
				for n, value := range answers[i].Values {
					if !slices.Contains(e.Choices, value) {
						answers[i].Values[n] = s.unmentioned(value)
					}
				}
			}
			return e.Reply(answers)
		})
	case agent.Withdraw:
		s.release(e.Native, errWithdrawn)
	case agent.Send:
		s.send(func(context.Context) json.RawMessage { return e.Data })
	case agent.Resume:
		s.token = e.Token
	}
}

// unmentioned is what a person says beside a prompt, as the agent gets it.
func (s *Session) unmentioned(words string) string {
	if s.o.AsWritten {
		return words
	}
	return Unmentioned(words, s.Inside)
}

// await waits for an answer in a goroutine and sends the reply. A request that was
// withdrawn has no reply. The caller holds s.mu.
func (s *Session) await(native string, answer func(context.Context) json.RawMessage) {
	ctx, cancel := context.WithCancelCause(s.life)
	r := &request{native: native, cancel: cancel}
	s.requests[native] = r
	s.send(func(context.Context) json.RawMessage {
		defer cancel(nil)
		data := answer(ctx)
		s.mu.Lock()
		if s.requests[native] == r {
			delete(s.requests, native)
		}
		s.mu.Unlock()
		switch cause := context.Cause(ctx); {
		case cause == nil, s.o.AnswerOnStop && errors.Is(cause, errStopped):
			return data
		default:
			return nil
		}
	})
}

// send sends what the function returns, in a goroutine: the reader of the agent's
// messages must not wait for an agent that does not read. The caller holds s.mu.
func (s *Session) send(data func(context.Context) json.RawMessage) {
	if s.closed {
		return
	}
	s.work.Go(func() {
		if line := data(s.life); line != nil {
			if err := s.Send(s.life, line); err != nil && s.life.Err() == nil {
				s.cfg.Logger.Debug("a reply did not reach the agent", "error", err)
			}
		}
	})
}

// release ends the wait for a request. The caller holds s.mu.
func (s *Session) release(native string, cause error) {
	if r := s.requests[native]; r != nil {
		delete(s.requests, native)
		r.cancel(cause)
	}
}

// releaseAll ends the wait for all requests. The caller holds s.mu.
func (s *Session) releaseAll(cause error) {
	for native := range s.requests {
		s.release(native, cause)
	}
}
