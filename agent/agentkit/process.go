package agentkit

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/procio"
	"github.com/tributary-dev/tributary/trace"
)

// Spec describes an agent that is a program and speaks in lines: one JSON message a
// line, on standard input and output.
type Spec struct {
	// Adapter begins errors, such as "codex"; Name begins sentences for users, such as
	// "Codex".
	Adapter, Name string
	// Command is the program, and Env its whole environment.
	Command string
	Env     []string
	// Files are variables of the environment, unless Env has them: each is the path of a file of JSON with this text, which is there
	// while the process runs.
	Files map[string]string
	// Args returns the arguments of a process that goes on with the conversation of
	// the resume token.
	Args func(resume string) []string
	// Marks are keys of which each message of the agent has one at least, such as method and
	// id. A program that prints other lines at its start is not the agent. Nil: any JSON.
	Marks []string
	// NotFound is the error when there is no such program: it says how to install it.
	NotFound error
	// Advice returns what to do about an error, as the end of a sentence, or "". For
	// example: how to log in.
	Advice func(text string) string
	// StartTime and StopTime bound a start and a stop; 30 s and 5 s if zero.
	StartTime, StopTime time.Duration
	// UnreadTime is Options.UnreadTime.
	UnreadTime time.Duration
	// OneStart, of capacity 1, has the processes of a program start one after another: each
	// waits until the one before it has printed a line or ended. Nil: they start at once.
	OneStart chan struct{}
	// AnswerOnStop is Options.AnswerOnStop.
	AnswerOnStop bool
	// New returns the protocol for a process that has just started with Args(resume).
	New func(c Conn, resume string) Protocol
}

// Protocol is what an adapter knows of its agent's protocol. There is one for each
// process. Decode is called with the session locked; the other methods are not, and
// may use the Conn.
//
// A Protocol may also be a [Receiver], a [Holder], a [Relocator], a [Leaver], an agent.Controllable,
// and an io.Closer, which is closed when the process has ended.
type Protocol interface {
	agent.Decoder
	// Greet makes a process ready that has just started. Turns cannot begin before
	// Greet has returned.
	Greet(ctx context.Context, resume string) error
	// Prompt encodes a prompt. A *PromptError says that the agent cannot take it.
	Prompt(ctx context.Context, p agent.Prompt) (json.RawMessage, error)
	// Stop encodes the request to end the turn.
	Stop() json.RawMessage
}

// Receiver is a Protocol that wants to see each line of the agent after it was decoded.
type Receiver interface {
	Received(line json.RawMessage)
}

// Relocator is a Protocol that knows where to go on when a process does not find its
// conversation and ends.
type Relocator interface {
	// Relocate returns the nearest resume token, judged by what the process said at
	// its end, and what to tell the user.
	Relocate(resume, stderr string) (next string, notice trace.Error, ok bool)
}

// Leaver is a Protocol that tells its agent that the session ends.
type Leaver interface {
	// Leave is called before the process of an idle session is ended. ctx ends after a
	// second.
	Leave(ctx context.Context)
}

// Conn is a Protocol's process.
type Conn struct {
	s *processSession
	p *process
}

// Send decodes a line and writes it to the process.
func (c Conn) Send(ctx context.Context, line json.RawMessage) error {
	return c.s.sendBy(ctx, line, always, c.p.WriteLine)
}

// Done is closed when the process has ended and all its lines were read.
func (c Conn) Done() <-chan struct{} { return c.p.done }

// Session is the session of the process.
func (c Conn) Session() *Session { return c.s.Session }

// Host is the session's host.
func (c Conn) Host() agent.Host { return c.s.host }

// Config is what the session was opened with.
func (c Conn) Config() agent.Config { return c.s.cfg }

// processSession is a conversation with an agent that is a process. A process that
// died between turns is started again by the next prompt.
type processSession struct {
	*Session
	spec Spec

	closing sync.Once
	fault   error // of Close

	state sync.Mutex // guards what follows
	proc  *process
	shut  bool
}

var (
	_ agent.Session      = (*processSession)(nil)
	_ agent.Controllable = (*processSession)(nil)
)

// Open starts the agent and returns when it is ready.
func Open(ctx context.Context, host agent.Host, cfg agent.Config, spec Spec) (agent.Session, error) {
	if spec.StartTime <= 0 {
		spec.StartTime = 30 * time.Second
	}
	s := &processSession{spec: spec}
	s.Session = New(host, cfg, Options{
		Name: spec.Name, StopTime: spec.StopTime, UnreadTime: spec.UnreadTime, AnswerOnStop: spec.AnswerOnStop,
		Send: func(ctx context.Context, data []byte) error {
			if p := s.process(); p != nil {
				return p.WriteLine(ctx, data)
			}
			return ErrClosed
		},
	})
	if err := s.start(ctx, cfg.Resume); err != nil {
		return nil, errors.Join(err, s.Close()) //nolint:contextcheck // closing has a bound of its own
	}
	return s, nil
}

// Prompt implements agent.Session.
func (s *processSession) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	s.state.Lock()
	shut := s.shut
	s.state.Unlock()
	if shut {
		return ErrClosed
	}
	return s.Run(ctx, b, &link{s: s, b: b, prompt: p})
}

// Controls implements agent.Controllable: those of the process that runs now.
func (s *processSession) Controls() agent.Controls {
	p := s.process()
	if c, ok := p.protocol.(agent.Controllable); ok && !p.ended() {
		return c.Controls()
	}
	return agent.Controls{}
}

// Close implements agent.Session.
func (s *processSession) Close() error {
	s.closing.Do(func() {
		s.state.Lock()
		s.shut = true
		proc := s.proc
		s.state.Unlock()
		busy := s.Busy()
		if proc != nil && !busy {
			s.farewell(proc)
		}
		s.end()
		if proc != nil {
			if busy {
				proc.Terminate()
			}
			s.fault = proc.Close()
		}
		s.Session.Close()
	})
	return s.fault
}

// farewell tells the agent that the session ends.
func (s *processSession) farewell(p *process) {
	l, ok := p.protocol.(Leaver)
	if !ok || p.ended() {
		return
	}
	ctx, cancel := context.WithTimeout(s.life, time.Second)
	defer cancel()
	l.Leave(ctx)
}

func (s *processSession) process() *process {
	s.state.Lock()
	defer s.state.Unlock()
	return s.proc
}

// read hands the process's lines to the Decoder until the last.
func (s *processSession) read(p *process) {
	defer p.over()
	for {
		line, err := p.ReadLine()
		var long procio.LineTooLongError
		switch {
		case err == nil:
			p.started()
			for _, message := range messagesIn(line, s.spec.Marks) {
				s.room(p)
				s.arrive(p, message)
			}
		case errors.As(err, &long):
			s.cfg.Logger.Warn(s.spec.Adapter + ": " + long.Error())
		default:
			if errors.Is(err, io.ErrUnexpectedEOF) {
				s.cfg.Logger.Warn(s.spec.Adapter+": its output ended within a line", "bytes", len(line))
			}
			s.releaseHeld(p)
			s.Lost(s.death(p))
			_ = p.Close()
			return
		}
	}
}

// room waits until the process has read enough of its answers. One that reads none is ended.
func (s *processSession) room(p *process) {
	if err := s.Room(context.Background()); err != nil {
		p.unread.Store(true)
		s.cfg.Logger.Warn(s.spec.Adapter + ": the process is ended: " + err.Error())
		_ = p.Close()
	}
}

func (s *processSession) take(p *process, line json.RawMessage) {
	p.lines.see(line)
	if err := s.Received(agent.Message{Dir: agent.Out, Data: line}); err != nil {
		s.cfg.Logger.Warn(err.Error())
	}
	if r, ok := p.protocol.(Receiver); ok {
		r.Received(line)
	}
}

// death is the end of a turn whose process has ended.
func (s *processSession) death(p *process) trace.Stop {
	if s.life.Err() != nil {
		return closed()
	}
	if p.unread.Load() {
		return trace.Stop{
			Reason: trace.ReasonDied, Outcome: trace.OutcomeFailed,
			Error: s.spec.Name + " was ended, because it asked again and again and read none of the answers: send a new message to go on.",
		}
	}
	why := p.Why()
	return trace.Stop{
		Reason: trace.ReasonDied, Outcome: trace.OutcomeFailed,
		Error: s.spec.Name + " ended in the middle of the turn: " + why + "." + s.advice(why),
	}
}

func (s *processSession) advice(text string) string {
	if s.spec.Advice == nil {
		return ""
	}
	return s.spec.Advice(text)
}
