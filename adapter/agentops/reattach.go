package agentops

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	wire "github.com/tributary-dev/tributary/agentops"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Reattach implements agent.Reattacher: the turn went on there, and what happened
// meanwhile is in the history. It is found by the upstream's ids of its prompt, or of
// what it has said.
func (r Runtime) Reattach(ctx context.Context, opened agent.Session, left agent.Left) error {
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
		s.letGo(b, "The gateway was restarted while this turn ran. It follows turns over a restart only with a service token; the turn goes on in Agent Ops.")
		return nil //nolint:nilerr // the turn says so
	case r.PerTurn && left.Theirs:
		s.letGo(b, "The gateway was restarted while this turn ran, which somebody began in Agent Ops: it goes on there.")
		return nil
	}
	o := &activePrompt{b: b, caller: caller}
	open, leave, err := s.enter(ctx, o)
	if err != nil {
		return err
	}
	defer leave()
	if !left.Theirs {
		s.mu.Lock()
		s.active = o
		s.mu.Unlock()
	}
	if err := s.resume(open, caller); err != nil {
		return s.notHad(ctx, b, connectionFailed, err)
	}
	if left.Theirs {
		s.attend(ctx, b)
		return nil
	}
	return s.await(ctx, o)
}

// notFound ends a turn that cannot be followed any more.
func notFound(b *trace.Builder, sentence string) {
	b.End(trace.Stop{Reason: "restart", Outcome: trace.OutcomeFailed, Error: sentence})
}

// letGo ends a turn that is not to be followed any more.
func (s *session) letGo(b *trace.Builder, sentence string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.dec.promptOf(b); p != nil {
		s.dec.drop(p)
	}
	notFound(b, sentence)
}

// lost ends a turn of before a restart of whose prompt the session knows nothing.
func (d *Decoder) lost(p *prompt) {
	p.on(ends)
	d.drop(p)
	notFound(p.b, "The gateway was restarted while this turn ran, and Agent Ops does not know its prompt: send it again if it still matters.")
}

// adopt makes the decoder know a turn of before a restart. The first connection brings
// what was missed.
func (s *session) adopt(left agent.Left) {
	p := &prompt{own: !left.Theirs, phase: sent, b: left.Builder, left: true, native: left.Native}
	if left.Prompt != nil {
		p.content, p.parts = agent.Prompt{Message: left.Prompt.Message}.Text(), left.Prompt.Message.Parts
	}
	switch {
	case left.Theirs && left.Prompt != nil:
		p.id, p.author, p.channel = left.Prompt.Message.ID, left.Prompt.By, left.Prompt.Channel
	case s.at.Turn == left.Builder.Turn():
		p.id, p.channel = s.at.Prompt, s.at.Channel
	}
	s.waiting = append(s.waiting, left.Waiting...)
	s.dec.keep(p)
}

// attend returns when a turn is over that is somebody else's: whoever stops it here has
// stopped to follow it.
func (s *session) attend(ctx context.Context, b *trace.Builder) {
	select {
	case <-b.Ended():
	case <-ctx.Done():
	case <-s.life.Done():
	}
	b.End(trace.Stop{Reason: "closed", Outcome: trace.OutcomeCanceled}) // it goes on there
}

// resume connects, as often as it takes within bounds, and brings what was missed.
func (s *session) resume(ctx context.Context, c agent.Caller) error {
	for p := (patience{}); ; {
		err := s.connect(ctx, c)
		if err == nil || isFinal(err) || ctx.Err() != nil || s.rt.Strict || !p.wait(ctx) {
			return err
		}
	}
}

// asks reports whether a request or question of a turn is that of the upstream's id:
// the gateway's ends with a word of its own.
func asks(id, native string) bool {
	rest, ok := strings.CutPrefix(id, native)
	return ok && native != "" && (rest == "" || rest[0] == '-' && !strings.Contains(rest[1:], "-"))
}

// recall takes a question or an approval that is told again, and is on record since
// before a restart. It reports false for any other frame. The caller holds s.mu.
func (s *session) recall(data []byte) bool {
	if len(s.waiting) == 0 || !bytes.Contains(data, []byte(`"expiresAt"`)) {
		return false
	}
	f, _ := wire.Decode(wire.ToBrowser, data)
	asked, is := f.(wire.InteractivePrompt)
	if !is {
		return false
	}
	q := readAsk(asked)
	i := slices.IndexFunc(s.waiting, func(id string) bool { return asks(id, q.native) })
	if i < 0 || s.dec.asks[q.native] != nil {
		return false
	}
	r := s.dec.active(q.channel)
	if r == nil {
		if r = s.dec.begin(s.dec.next(q.channel, true), q.channel, turns{s}); r == nil {
			return false
		}
	}
	a := &ask{native: q.native, id: s.waiting[i], question: q.question, run: r, b: r.b, choices: q.choices}
	if r.turn != nil {
		a.call = r.turn.about(q)
	}
	if a.call == nil {
		a.call = &call{id: q.native, key: q.native, name: q.title}
	}
	s.waiting = slices.Delete(s.waiting, i, i+1)
	s.dec.asks[q.native] = a
	s.put(a)
	return true
}
