package agentkit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// ErrClosed is the error of a prompt to a session that was closed.
var ErrClosed = errors.New("the session is closed")

// Options say how a Session talks to its agent.
type Options struct {
	// Name is the agent's name for people. Sentences begin with it.
	Name string
	// Decoder reads the agent's protocol.
	Decoder agent.Decoder
	// Send writes a message to the agent. The Session has decoded the message before.
	// Calls come one at a time.
	Send func(ctx context.Context, data []byte) error
	// AsWritten is for an application, which gets the words of answers as people wrote them. Every
	// other agent gets them as Unmentioned makes them.
	AsWritten bool
	// AnswerOnStop tells the agent that its open requests are canceled when a person
	// stops the turn. Other agents withdraw their requests by themselves.
	AnswerOnStop bool
	// StopTime is how long the agent may take to end a turn; 5 s if zero.
	StopTime time.Duration
	// UnreadTime is how long an agent that goes on to ask may read no answer; 30 s if zero.
	UnreadTime time.Duration
}

// Session is the part of an agent's session that all agents have in common. A
// Session is safe for concurrent use.
type Session struct {
	host agent.Host
	cfg  agent.Config
	o    Options

	life context.Context //nolint:containedctx // ends with Close
	end  context.CancelFunc
	work sync.WaitGroup

	sending chan struct{} // holds a token while a message is decoded and written, so that both have one order
	telling sync.Mutex    // makes the host learn resume tokens in order
	known   string        // the token that the host knows; guarded by telling

	mu       sync.Mutex // guards what follows, and the Decoder
	decoder  agent.Decoder
	ready    bool           // the Decoder may begin turns
	current  *trace.Builder // the running turn
	waiting  *trace.Builder // the turn of a prompt that was sent and has not begun
	newest   *trace.Builder // the turn of the newest prompt
	stopping *trace.Builder // the turn that a person has stopped
	panicked *trace.Builder // the turn in which the Decoder panicked
	heard    bool           // the agent has said something since the newest prompt
	past     bool           // the conversation had a turn before the newest
	notices  []trace.Error  // for the beginning of the next turn
	token    string         // the newest resume token; tell gives it to the host
	closed   bool
	unread   unread
	requests map[string]*request // requests whose reply is not sent yet, by the agent's ids
}

// New returns a Session that is ready.
func New(host agent.Host, cfg agent.Config, o Options) *Session {
	o.StopTime = cmp.Or(max(o.StopTime, 0), 5*time.Second)
	o.UnreadTime = cmp.Or(max(o.UnreadTime, 0), unreadTime)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	s := &Session{host: host, cfg: cfg, o: o, decoder: o.Decoder, ready: true, past: cfg.Resume != "", token: cfg.Resume, known: cfg.Resume, requests: map[string]*request{}, sending: make(chan struct{}, 1)}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Inside reports whether a file that a prompt names is in the workspace; see [Blocks].
func (s *Session) Inside(path string) bool { return s.host.Files().Contains(path) }

// Host is the session's host.
func (s *Session) Host() agent.Host { return s.host }

// Config is what the session was opened with. It has a Logger.
func (s *Session) Config() agent.Config { return s.cfg }

// Life ends when the session is closed.
func (s *Session) Life() context.Context { return s.life }

// Go runs a function in a goroutine that Close waits for. The function ends when its
// context does. After Close, Go does nothing.
func (s *Session) Go(run func(ctx context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.work.Go(func() { run(s.life) })
	}
}

// Token returns the newest resume token.
func (s *Session) Token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token
}

// Notice tells the user something at the beginning of the next turn.
func (s *Session) Notice(e trace.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notices = append(s.notices, e)
}

// Received decodes a message of the agent and performs the effects. An error says
// that the Decoder has skipped the message.
func (s *Session) Received(m agent.Message) error {
	s.mu.Lock()
	s.heard = true
	err := s.decode(m)
	s.mu.Unlock()
	s.tell()
	s.cfg.Meter.Decoded(err)
	return err
}

// tell gives the newest resume token to the host. The host writes to its log, so
// nothing is locked that a Decoder needs.
func (s *Session) tell() {
	s.telling.Lock()
	defer s.telling.Unlock()
	if token := s.Token(); token != s.known {
		s.known = token
		s.host.Resume(token)
	}
}

// Send decodes a message to the agent and sends it.
func (s *Session) Send(ctx context.Context, data json.RawMessage) error {
	return s.sendBy(ctx, data, always, s.o.Send)
}

func always() bool { return true }

// sendBy decodes a message and writes it, if it is wanted: nothing is decoded between the two.
func (s *Session) sendBy(ctx context.Context, data json.RawMessage, wanted func() bool, write func(context.Context, []byte) error) error {
	select {
	case s.sending <- struct{}{}:
		defer func() { <-s.sending }()
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	is, err := wanted(), error(nil)
	if is {
		err = s.decode(agent.Message{Dir: agent.In, Data: data}) //nolint:contextcheck // effects live as long as the session
	}
	s.mu.Unlock()
	s.tell() //nolint:contextcheck // as above
	if err != nil || !is {
		return err
	}
	return write(ctx, data)
}

// Sent decodes a message that the adapter sends by other means, such as a request of
// its own. The adapter calls Sent before it sends the message.
func (s *Session) Sent(m agent.Message) error {
	s.mu.Lock()
	err := s.decode(m)
	s.mu.Unlock()
	s.tell()
	return err
}

// decode hands a message to the Decoder and starts its effects. The caller holds s.mu.
func (s *Session) decode(m agent.Message) error {
	if s.cfg.Tap != nil {
		s.cfg.Tap(m)
	}
	effects, err := Decode(s.decoder, m, turns{s})
	if p, panicked := errors.AsType[*PanicError](err); panicked {
		s.broken(p)
	}
	if errors.Is(err, ErrTooManyValues) {
		s.failTurns(trace.Stop{Reason: trace.ReasonTooMuch, Outcome: trace.OutcomeFailed, Error: "The turn was ended, because " + err.Error() + ": send a new message to go on."})
	}
	if s.current != nil && m.Dir == agent.Out {
		s.current.Heard(len(m.Data))
	}
	if s.current != nil && s.current.Over() {
		s.current = nil
	}
	for _, e := range effects {
		s.perform(e)
	}
	return err
}

// Do runs a function while nothing is decoded. An adapter uses Do to look at its
// Decoder.
func (s *Session) Do(look func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	look()
}

// Close ends the session's requests and goroutines and waits for them. The adapter
// ends its connection before. Close is idempotent.
func (s *Session) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.work.Wait()
}

// Busy reports whether a turn runs or a prompt waits for its turn.
func (s *Session) Busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current != nil || s.waiting != nil
}
