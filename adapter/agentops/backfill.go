package agentops

import (
	"context"
	"slices"
	"time"

	wire "github.com/tributary-dev/tributary/agentops"

	"github.com/tributary-dev/tributary/agent"
)

// missed holds what runs until the next whole message: the end of the text that is
// being written is in no history.
func (d *Decoder) missed() {
	for _, r := range d.runs {
		if r.turn != nil {
			r.turn.away = true
		}
	}
}

// backfill reads the messages of the session, which the first frame leaves out.
func (s *session) backfill(ctx context.Context, c agent.Caller) ([]wire.Message, error) {
	all, err := s.api.messages(ctx, c, s.cfg.SessionID, s.since())
	if isElsewhere(err) {
		return s.greeted(ctx, c)
	}
	return all, err
}

// since is from when on the history is wanted: all of it, if anything is open that may be
// older than the newest prompt of ours.
func (s *session) since() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.Since == 0 || s.dec.openBeside(s.at.Prompt) {
		return time.Time{}
	}
	return time.Unix(int64(s.at.Since)-1, 0)
}

// openBeside reports whether a turn is open that is not the prompt's.
func (d *Decoder) openBeside(id string) bool {
	return slices.ContainsFunc(d.runs, func(r *run) bool { return r.prompt == nil || r.prompt.id != id }) ||
		slices.ContainsFunc(d.prompts, func(p *prompt) bool { return p.b != nil && p.id != id })
}

// greeted reads the history of a server that has no address for it: whoever asks by
// the older name of the protocol has it in the first frame.
func (s *session) greeted(ctx context.Context, c agent.Caller) ([]wire.Message, error) {
	sock, err := s.api.dial(ctx, s.cfg.SessionID, c, olderProtocol)
	if err != nil {
		return nil, err
	}
	defer sock.close()
	in, _, err := s.greeting(ctx, sock)
	if err == nil && in.Session.Messages == nil {
		err = &failure{sentence: "Agent Ops does not tell what was said in the session, so the turn cannot be followed any more.", final: true}
	}
	return in.Session.Messages, err
}
