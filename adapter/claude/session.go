package claude

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/procio"
	"github.com/tributary-dev/tributary/trace"
)

// session is a conversation with Claude Code. Its process may be started more
// than once: one that died between turns comes back with the next prompt.
type session struct {
	rt   Runtime
	host agent.Host
	cfg  agent.Config

	life   context.Context //nolint:containedctx // ends with Close
	end    context.CancelFunc
	closed sync.Once
	fail   error // of Close
	goes   sync.WaitGroup

	mu       sync.Mutex // guards all below, and the decoder
	dec      *Decoder
	proc     *process
	current  *trace.Builder // the turn that runs
	waiting  *trace.Builder // the turn of a prompt that was written
	asked    *trace.Builder // the turn of the newest prompt
	stopping *trace.Builder // the turn that is to be canceled
	at       place          // where the conversation stands
	told     string         // the token that the host knows from us
	notice   trace.Error    // what the next turn has to say of a start that went otherwise; zero for none
	heard    bool           // the agent has said something since the prompt
	shut     bool
	n        int // requests of ours so far, for ids
	asks     map[string]context.CancelFunc
}

var _ agent.Session = (*session)(nil)

func newSession(r Runtime, host agent.Host, cfg agent.Config) *session {
	s := &session{rt: r, host: host, cfg: cfg, at: parsePlace(cfg.Resume), asks: map[string]context.CancelFunc{}}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// errClosed is what a prompt of a closed session gets.
var errClosed = errors.New("claude: the session is closed")

// Prompt implements agent.Session.
func (s *session) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	if ctx.Err() != nil {
		b.End(trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled})
		return nil //nolint:nilerr // a stopped turn is no fault: its trace says so
	}
	line := userLine(p)
	for again := false; ; again = true {
		proc, err := s.running(ctx)
		if err == nil {
			err = s.ask(b, line)
		}
		switch {
		case err != nil && ctx.Err() != nil:
			b.End(trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled})
			return nil //nolint:nilerr // as above
		case err != nil:
			return err
		case b.Over():
			return nil // there is nothing to send
		}
		if err := proc.WriteLine(ctx, line); err != nil && ctx.Err() == nil {
			_ = proc.Close() // it does not listen any more
		}
		select {
		case <-b.Ended():
		case <-ctx.Done():
			s.stop(proc, b) //nolint:contextcheck // ctx is over; stopping has a bound of its own
		case <-proc.done:
			if !again && s.retract(b) {
				continue // it was dying when the prompt came
			}
			s.give(b, s.death(proc.Why()))
		}
		return nil
	}
}

// retract takes back a prompt of which the agent has heard nothing.
func (s *session) retract(b *trace.Builder) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.heard || s.shut || b.Over() {
		return false
	}
	if s.current == b {
		s.current = nil
	}
	s.waiting = nil
	return true
}

// running returns the process, and starts it again if it has died.
func (s *session) running(ctx context.Context) (*process, error) {
	s.mu.Lock()
	proc, shut, at := s.proc, s.shut, s.at
	s.mu.Unlock()
	if shut {
		return nil, errClosed
	}
	if proc != nil && !proc.ended() {
		return proc, nil
	}
	if err := s.start(ctx, at); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc, nil
}

// ask tells the decoder of a prompt. Its turn runs at once, unless one of the
// agent's own is under way.
func (s *session) ask(b *trace.Builder, line []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut {
		return errClosed
	}
	if s.notice.Code != "" {
		b.Emit(s.notice)
		s.notice = trace.Error{}
	}
	s.waiting, s.asked, s.heard = b, b, false
	_, err := s.dec.Decode(agent.Message{Dir: agent.In, Data: line}, turns{s})
	if s.waiting == b && len(s.dec.waiting) == 0 { // not a prompt to the decoder either
		s.endTurn(b, trace.Stop{Reason: "empty_prompt", Outcome: trace.OutcomeFailed, Error: "The prompt holds nothing that Claude Code can read."})
	}
	return err
}

// stop asks the agent to end its turn, and ends the process if it does not.
func (s *session) stop(proc *process, b *trace.Builder) {
	s.mu.Lock()
	begun := s.waiting != b
	s.stopping = b
	s.mu.Unlock()
	bound := time.NewTimer(s.rt.stopTime())
	defer bound.Stop()
	again := time.NewTicker(time.Second) // the agent may not have begun when the first one came
	defer again.Stop()
	for begun {
		ctx, cancel := context.WithTimeout(s.life, time.Second)
		err := proc.WriteLine(ctx, s.request(`{"subtype":"interrupt"}`))
		cancel()
		if err != nil {
			break
		}
		select {
		case <-b.Ended():
			return
		case <-again.C:
			continue
		case <-bound.C:
		case <-s.life.Done():
		}
		break
	}
	s.give(b, trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled})
	proc.Terminate()
	_ = proc.Close()
	<-proc.done // what it said last is known
}

// give ends a turn from our side.
func (s *session) give(b *trace.Builder, verdict trace.Stop) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endTurn(b, verdict)
}

func (s *session) endTurn(b *trace.Builder, verdict trace.Stop) {
	if s.current == b {
		s.current = nil
	}
	if s.waiting == b {
		s.waiting = nil
		s.dec.waiting = nil
	}
	if !b.Over() {
		if s.stopping == b {
			verdict = trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled}
		}
		b.End(verdict)
	}
	s.quiet()
}

// quiet withdraws what the agent has asked.
func (s *session) quiet() {
	for id, cancel := range s.asks {
		cancel()
		delete(s.asks, id)
	}
}

// Close implements agent.Session.
func (s *session) Close() error {
	s.closed.Do(func() {
		s.mu.Lock()
		s.shut = true
		proc, busy := s.proc, s.current != nil || s.waiting != nil
		s.mu.Unlock()
		s.end()
		if proc != nil {
			if busy {
				proc.Terminate()
			}
			s.fail = proc.Close()
		}
		s.goes.Wait()
	})
	return s.fail
}

// request makes a request of ours.
func (s *session) request(body string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	return encode(map[string]any{"type": "control_request", "request_id": fmt.Sprintf("gateway-%d", s.n), "request": raw(body)})
}

// turns gives the decoder its turns. The session is locked while it decodes.
type turns struct{ s *session }

func (t turns) Prompted(p trace.Prompt) *trace.Builder {
	if t.s.waiting == nil {
		return t.Begin(agent.TurnInfo{Prompt: &p})
	}
	t.s.current, t.s.waiting = t.s.waiting, nil
	return t.s.current
}

func (t turns) Begin(info agent.TurnInfo) *trace.Builder {
	t.s.current = t.s.host.Begin(info)
	return t.s.current
}

func (t turns) Current() *trace.Builder { return t.s.current }

func (t turns) Note(p trace.Payload) { t.s.host.Note(p) }

// read hands the process's lines to the decoder until the last.
func (s *session) read(proc *process) {
	defer proc.over()
	for {
		line, err := proc.ReadLine()
		var long procio.LineTooLongError
		switch {
		case err == nil:
			s.take(proc, line)
		case errors.As(err, &long):
			s.cfg.Logger.Warn("claude: " + long.Error())
		default:
			if errors.Is(err, io.ErrUnexpectedEOF) {
				s.cfg.Logger.Warn("claude: its output ended within a line", "bytes", len(line))
			}
			s.died(proc)
			_ = proc.Close()
			return
		}
	}
}

// take takes one line.
func (s *session) take(proc *process, line []byte) {
	s.mu.Lock()
	s.heard = true
	_, err := s.dec.Decode(agent.Message{Dir: agent.Out, Data: line}, turns{s})
	fresh := s.dec.take()
	if s.current != nil && s.current.Over() {
		s.current = nil
	}
	learned := ""
	if token := s.dec.Token(); token != "" && token != s.told && !s.dec.starting {
		s.at, s.told, learned = parsePlace(token), token, token
	}
	s.mu.Unlock()
	if err != nil {
		s.cfg.Logger.Warn(err.Error())
	}
	if learned != "" {
		s.host.Resume(learned)
	}
	s.act(proc, fresh)
}

// died ends what ran when the process has ended.
func (s *session) died(proc *process) {
	why := proc.Why()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range []*trace.Builder{s.current, s.waiting} {
		if b != nil && (s.heard || b != s.asked) { // else Prompt decides
			s.endTurn(b, s.death(why))
		}
	}
	s.quiet()
}

// death is the end of a turn whose process has ended.
func (s *session) death(why string) trace.Stop {
	if s.life.Err() != nil {
		return trace.Stop{Reason: "closed", Outcome: trace.OutcomeCanceled}
	}
	return trace.Stop{Reason: trace.ReasonDied, Outcome: trace.OutcomeFailed, Error: "Claude Code ended in the middle of the turn: " + why + "." + advice(why)}
}
