// Package alone plays one session in this process, with a hub of its own and a log in memory that
// ends with it: for a command that runs prompts and exits, and for each run of an eval.
package alone

import (
	"context"
	"errors"
	"iter"
	"maps"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/policy/workspace/spaces"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// Session is the only session of a hub.
type Session struct {
	// Hub takes the answers to requests of the session, whose id is ID.
	Hub *session.Hub
	ID  string

	by   string
	seen uint64 // the number of the last record that a turn has shown
}

// Open makes the session. The options' log is replaced. The agents may be those of several
// sessions, if their runtimes are.
func Open(ctx context.Context, o session.Options, spec session.Spec) (*Session, error) {
	o.Log = eventlog.New(memlog.New())
	o.OnDisconnect = session.Detach // there is no connection
	o.Agents = maps.Clone(o.Agents)
	for name, a := range o.Agents {
		a.Workspace = spaces.Shared // there is one session, and its person is in the directory
		o.Agents[name] = a
	}
	hub, err := session.New(ctx, o)
	if err != nil {
		return nil, errors.Join(err, o.Log.Close())
	}
	s := &Session{Hub: hub, by: spec.By}
	info, err := hub.Create(context.WithoutCancel(ctx), spec)
	if err != nil {
		return nil, errors.Join(err, s.Close(ctx))
	}
	s.ID = info.ID
	return s, nil
}

// Turn runs a prompt. It calls each with every record as it comes, up to the stop, which it
// returns; the records since the turn before are among them. The end of ctx stops the turn, and an
// error of each leaves it. A session has one turn at a time.
func (s *Session) Turn(ctx context.Context, p session.Prompt, each func(trace.Record) error) (trace.Stop, error) {
	life := context.WithoutCancel(ctx)
	turn, err := s.Hub.Prompt(life, s.ID, p)
	if err != nil {
		return trace.Stop{}, err //nolint:wrapcheck // a sentence
	}
	defer context.AfterFunc(ctx, func() {
		_, _, _ = s.Hub.StopTurn(life, s.ID, turn.ID, s.by) // its stop record is what the loop waits for
	})()
	for r, err := range s.Hub.Log.Follow(life, s.ID, s.seen) {
		if err != nil {
			return trace.Stop{}, err //nolint:wrapcheck // a sentence
		}
		s.seen = r.Seq
		if err := each(r); err != nil {
			return trace.Stop{}, err
		}
		if stop, is := r.Payload.(trace.Stop); is && r.Turn == turn.ID {
			return stop, nil
		}
	}
	return trace.Stop{}, errors.New("the log ended before the turn did")
}

// Records are all durable records of the session so far.
func (s *Session) Records(ctx context.Context) iter.Seq2[trace.Record, error] {
	return s.Hub.Log.Durable(ctx, s.ID, 0, 0)
}

// Close ends the agent and the log, also after the end of ctx. It waits for no turn.
func (s *Session) Close(ctx context.Context) error {
	closing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	cancel()
	return errors.Join(s.Hub.Close(closing), s.Hub.Log.Close())
}
