package agentkit

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// request is an approval or a question whose reply is not sent yet.
type request struct {
	cancel    context.CancelCauseFunc
	withdrawn bool // it has no reply; guarded by Session.mu
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
		s.await(e.Native, e.Decided != nil, func(ctx context.Context) json.RawMessage {
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
		s.await(e.Native, false, func(ctx context.Context) json.RawMessage {
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
		s.send(e.Data)
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
// withdrawn has no reply, also if its answer was there already: the reply would answer a
// later request of the same id. A request that is decided waits for nobody, so its answer counts
// as unread from the beginning. The caller holds s.mu.
func (s *Session) await(native string, decided bool, answer func(context.Context) json.RawMessage) {
	if s.closed {
		return
	}
	s.release(native, errWithdrawn)
	ctx, cancel := context.WithCancelCause(s.life)
	r := &request{cancel: cancel}
	s.requests[native] = r
	wanted := func() bool { // the caller holds s.mu
		if s.requests[native] == r {
			delete(s.requests, native)
		}
		cause := context.Cause(ctx)
		return !r.withdrawn && (cause == nil || s.o.AnswerOnStop && errors.Is(cause, errStopped))
	}
	if decided {
		s.unread.add(unmadeBytes)
	}
	s.work.Go(func() {
		defer cancel(nil)
		line := answer(ctx)
		s.mu.Lock()
		if decided {
			s.unread.remove(unmadeBytes)
		}
		s.unread.add(len(line))
		s.mu.Unlock()
		s.reply(line, wanted)
	})
}

// send sends a line in a goroutine: the reader of the agent's messages must not wait for an
// agent that does not read. The caller holds s.mu.
func (s *Session) send(line json.RawMessage) {
	if !s.closed {
		s.unread.add(len(line))
		s.work.Go(func() { s.reply(line, always) })
	}
}

// reply sends an unread line, if there is one that is still wanted when its turn to be sent has come.
func (s *Session) reply(line json.RawMessage, wanted func() bool) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.unread.remove(len(line))
	}()
	err := s.sendBy(s.life, line, func() bool { return wanted() && line != nil }, s.o.Send)
	if err != nil && s.life.Err() == nil {
		s.cfg.Logger.Debug("a reply did not reach the agent", "error", err)
	}
}

// release ends the wait for a request. The caller holds s.mu.
func (s *Session) release(native string, cause error) {
	if r := s.requests[native]; r != nil {
		r.withdrawn = r.withdrawn || errors.Is(cause, errWithdrawn)
		r.cancel(cause)
	}
}

// releaseAll ends the wait for all requests. The caller holds s.mu.
func (s *Session) releaseAll(cause error) {
	for native := range s.requests {
		s.release(native, cause)
	}
}
