package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/trace"
)

// Session is a conversation with an agent on a server.
type Session struct {
	*agentkit.Session
	spec     Spec
	protocol Protocol
	follower Follower // the protocol, if there is a Feed

	connecting sync.Mutex // of a Feed; taken before the others

	mu      sync.Mutex // guards what follows
	run     *run       // of the turn that runs
	callers map[string]agent.Caller
	unheard *Call // a stop that the server has not got
	closed  bool
}

var (
	_ agent.Session      = (*Session)(nil)
	_ agent.CallerAware  = (*Session)(nil)
	_ agent.Controllable = (*Session)(nil)
)

// Open returns a session with an agent that answers.
func Open(ctx context.Context, host agent.Host, cfg agent.Config, spec Spec) (*Session, error) {
	s := &Session{spec: spec, callers: map[string]agent.Caller{}}
	open := spec.Greet
	if spec.Feed != nil {
		s.spec.Transport, s.spec.Feed.CheckTime = spec.Feed, cmp.Or(spec.Feed.CheckTime, 15*time.Second)
		open = func(ctx context.Context, s *Session) error { _, err := s.connect(ctx); return err }
	}
	s.protocol = spec.New(s)
	s.follower, _ = s.protocol.(Follower)
	s.Session = agentkit.New(host, cfg, agentkit.Options{Name: spec.Name, Decoder: s.protocol, AsWritten: spec.AsWritten, StopTime: spec.StopTime, Send: s.post})
	if open != nil {
		if err := open(ctx, s); err != nil {
			cfg.Meter.Count(agent.OpenFailure)
			return nil, errors.Join(err, s.Close()) //nolint:contextcheck // closing has a bound of its own
		}
	}
	return s, nil
}

// Introduce implements agent.CallerAware.
func (s *Session) Introduce(by string, c agent.Caller) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.callers[by] = c
	return nil
}

// caller is in whose name a call is made.
func (s *Session) caller(c Call) agent.Caller {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.callers[c.By]
}

// Prompt implements agent.Session.
func (s *Session) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	if err := s.Introduce(p.By, p.Caller); err != nil {
		return err
	}
	return s.turn(ctx, b, func(ctx context.Context) (*Call, error) {
		c, err := s.protocol.Run(ctx, p)
		c.By = cmp.Or(c.By, p.By)
		return &c, err
	})
}

// Reattach goes on with a turn that an earlier process left open.
func (s *Session) Reattach(ctx context.Context, left agent.OpenTurn) error {
	r, ok := s.protocol.(Reattacher)
	if !ok {
		return fmt.Errorf("the gateway was restarted while this turn ran, and a run of %s cannot be taken up again: send the prompt again", s.spec.Name)
	}
	s.withAsking(func(a *Asking) bool { a.Recall(left); return true })
	return s.turn(ctx, left.Builder, func(ctx context.Context) (*Call, error) { return r.Reattach(ctx, left) })
}

// withAsking looks at what the turn asks people. It reports false for a Protocol that asks
// nothing between two runs.
func (s *Session) withAsking(look func(a *Asking) bool) (is bool) {
	if p, ok := s.protocol.(interface{ asking() *Asking }); ok {
		s.Do(func() { is = look(p.asking()) })
	}
	return is
}

func (s *Session) turn(ctx context.Context, b *trace.Builder, first func(context.Context) (*Call, error)) error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return agentkit.ErrClosed
	}
	if s.spec.Feed != nil {
		return s.Run(ctx, b, &delivery{s: s, b: b, first: first})
	}
	r := &run{s: s, b: b, first: first, turn: ctx, lost: make(chan struct{})}
	r.life, r.end = context.WithCancel(s.Life())
	defer r.leave() //nolint:contextcheck // the streams end with the turn
	return s.Run(ctx, b, r)
}

// Exchange makes a call and gives it and its answer to the Decoder. The answer is also decoded into
// out, unless that is nil.
func (s *Session) Exchange(ctx context.Context, c Call, out any) error {
	if err := s.Sent(c.sent()); err != nil { //nolint:contextcheck // effects end with the session
		return err
	}
	answer, err := s.fetch(ctx, c, out)
	if err == nil {
		err = s.Answered(c, answer) //nolint:contextcheck // as above
	}
	return err
}

// Answered gives the Decoder the answer to a call. Beside a Feed, an answer names its call: it is a
// Call with the path, and with the answer as the body.
func (s *Session) Answered(c Call, answer json.RawMessage) error {
	if s.spec.Feed != nil {
		answer = Call{Path: c.Path, Body: answer}.JSON()
	}
	return s.Received(agent.Message{Dir: agent.Out, Channel: Answer, Data: answer})
}

// Fetch makes a call of which the Decoder learns nothing.
func (s *Session) Fetch(ctx context.Context, c Call, out any) error {
	_, err := s.fetch(ctx, c, out)
	return err
}

func (s *Session) fetch(ctx context.Context, c Call, out any) (json.RawMessage, error) {
	answer, err := s.spec.Transport.Do(ctx, c, s.caller(c))
	if err == nil && out != nil {
		if err = json.Unmarshal(answer, out); err != nil {
			err = fmt.Errorf("the answer of %s to %s %s has another form than expected: %w", s.spec.Name, c.Method, c.Path, err)
		}
	}
	return answer, err
}

// post makes a call that the Decoder knows. A run that cannot begin ends the turn: the agent
// would wait for it.
func (s *Session) post(ctx context.Context, data []byte) error {
	c, err := ParseCall(data)
	if err != nil || c.isNote() {
		return err
	}
	if !c.Stream {
		_, err = s.spec.Transport.Do(ctx, c, s.caller(c))
		return err
	}
	s.mu.Lock()
	r := s.run
	s.mu.Unlock()
	if r == nil {
		return errOver
	}
	if err = r.retry(unsent, func() error { return r.open(c) }); err != nil && r.life.Err() == nil { //nolint:contextcheck // the stream ends with the turn
		r.lose(s.sentence(err))
	}
	return err
}

// sentence says what a failed call means for the turn.
func (s *Session) sentence(err error) string { return s.spec.Name + " did not go on: " + err.Error() }

// Tell sends a prompt that is no stream. The refusal of a server is a *agentkit.PromptError.
func (s *Session) Tell(ctx context.Context, c Call) error {
	_, err := s.spec.Transport.Do(ctx, c, s.caller(c))
	return s.refusal(err)
}

// refusal is the error of a prompt, as agentkit takes it.
func (s *Session) refusal(err error) error {
	if refused, ok := errors.AsType[*httpjson.Error](err); ok && refused.Status >= 400 {
		return &agentkit.PromptError{Reason: "refused", Sentence: s.spec.Name + " did not take the prompt: " + refused.Message + hint(refused), Class: trace.ClassOfStatus(refused.Status)}
	}
	return err
}

// Controls implements agent.Controllable.
func (s *Session) Controls() agent.Controls {
	if c, ok := s.protocol.(agent.Controllable); ok {
		return c.Controls()
	}
	return agent.Controls{}
}

// Close implements agent.Session. A run that nobody reads any more is stopped.
func (s *Session) Close() error {
	s.mu.Lock()
	r, closed := s.run, s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	stops := s.spec.Feed != nil && s.spec.Feed.URL != "" && s.Busy() || r != nil && !r.left() && !s.withAsking((*Asking).paused)
	if c, ok := s.protocol.Stop(); ok && stops {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, _ = s.spec.Transport.Do(ctx, c, s.caller(c)) // the session ends in any case
		cancel()
	}
	if r != nil {
		r.lose("")
		s.Lost(r.why)
	}
	s.Session.Close()
	s.spec.Transport.Close()
	return nil
}

// Reattach is the method of agent.Reattacher for a Runtime that opens Sessions.
func Reattach(ctx context.Context, s agent.Session, left agent.OpenTurn) error {
	if session, ok := s.(*Session); ok {
		return session.Reattach(ctx, left)
	}
	return errors.New("this is a session of another agent")
}
