package agentops

import (
	"context"
	"errors"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// Reattach implements agent.Reattacher: the turn went on there, and the history holds what
// happened meanwhile. The turn is found by the upstream's ids of its prompt, or of its messages.
func (r Runtime) Reattach(ctx context.Context, opened agent.Session, left agent.OpenTurn) error {
	b := left.Builder
	s, ok := opened.(*session)
	if !ok {
		return errors.New("agentops: this is a session of another agent")
	}
	if r.PerTurn {
		defer s.hangUp()
	}
	caller, err := s.api.as(agent.Caller{})
	switch {
	case err != nil:
		s.endUnfollowed(b, "The gateway was restarted while this turn ran. It follows turns over a restart only with a service token; the turn goes on in Agent Ops.")
		return nil //nolint:nilerr // the turn says so
	case r.PerTurn && left.AgentInitiated:
		s.endUnfollowed(b, "The gateway was restarted while this turn ran, which somebody began in Agent Ops: it goes on there.")
		return nil
	}
	o := &activePrompt{b: b, caller: caller, theirs: left.AgentInitiated}
	open, leave, err := s.enter(ctx, o)
	if err != nil {
		return err
	}
	defer leave()
	if !o.theirs {
		s.mu.Lock()
		s.active = o
		s.mu.Unlock()
	}
	for tries := (backoff{}); ; {
		if _, err = s.connect(open, caller, false); err == nil {
			return s.await(ctx, o)
		}
		if asFailure(err).final || open.Err() != nil || r.Strict || !tries.wait(open) {
			return s.notBegun(ctx, b, connectionFailed, err)
		}
	}
}

// notFound ends a turn that cannot be followed any more.
func notFound(b *trace.Builder, sentence string) {
	b.End(trace.Stop{Reason: "restart", Outcome: trace.OutcomeFailed, Error: sentence})
}

// endUnfollowed ends a turn that is not to be followed any more.
func (s *session) endUnfollowed(b *trace.Builder, sentence string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.dec.turnOf(b); p != nil {
		s.dec.drop(p)
	}
	notFound(b, sentence)
}

// adopt makes the Decoder know a turn from before a restart. The first connection brings the
// events since then.
func (s *session) adopt(left agent.OpenTurn) {
	p := &turn{own: !left.AgentInitiated, phase: sent, b: left.Builder, left: true, native: left.Native}
	if left.Prompt != nil {
		p.content, p.parts = agentkit.PromptText(agent.Prompt{Message: left.Prompt.Message}, s.host.Files().Contains), left.Prompt.Message.Parts
	}
	switch {
	case left.AgentInitiated && left.Prompt != nil:
		p.id, p.author, p.channel = left.Prompt.Message.ID, left.Prompt.By, left.Prompt.Channel
	case s.at.Turn == left.Builder.Turn():
		p.id, p.channel, p.since = s.at.Prompt, s.at.Channel, s.at.Since
	}
	s.dec.waiting = append(s.dec.waiting, left.Waiting...)
	s.dec.keep(p)
}
