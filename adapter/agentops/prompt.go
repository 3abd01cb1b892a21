package agentops

import (
	"context"
	"errors"
	"time"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// Prompt implements agent.Session.
func (s *session) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	caller, err := s.api.as(p.Caller)
	switch {
	case ctx.Err() != nil:
		b.End(stopped())
		return nil //nolint:nilerr // a stopped turn is no fault: its trace says so
	case err != nil:
		fail(b, connectionFailed, err)
		return nil
	}
	if s.rt.PerTurn {
		defer s.hangUp()
		s.forgetTurns()
	}
	o := &activePrompt{b: b, caller: caller}
	open, leave, err := s.enter(ctx, o)
	if err != nil {
		return err
	}
	defer leave()
	if _, err := s.connect(open, caller, false); err != nil {
		return s.notBegun(ctx, b, connectionFailed, err)
	}
	if err := s.send(open, o, p); err != nil && !s.mayHaveArrived(ctx, o, err) {
		s.mu.Lock()
		if s.active == o {
			s.active = nil
		}
		s.dec.unsend(b)
		s.mu.Unlock()
		return s.notBegun(ctx, b, err.Error(), err)
	}
	return s.await(ctx, o)
}

// mayHaveArrived reports whether the server has a prompt, or may have it, although its receipt did not
// come. A prompt that was stopped meanwhile is to stop there, too.
func (s *session) mayHaveArrived(ctx context.Context, o *activePrompt, why error) bool {
	if statusOf(why) != 0 || s.life.Err() != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fate := s.dec.fate(o.b)
	return fate > sent || fate == sent && ctx.Err() != nil
}

// notBegun ends a turn that could not begin. The caller of Prompt learns that the session is
// closed.
func (s *session) notBegun(ctx context.Context, b *trace.Builder, sentence string, why error) error {
	switch {
	case errors.Is(why, errClosed) || s.life.Err() != nil:
		return errClosed
	case ctx.Err() != nil:
		b.End(stopped())
	default:
		fail(b, sentence, why)
	}
	return nil
}

// forgetTurns makes a Decoder for a turn with a connection of its own. An end that may be told
// twice may still come.
func (s *session) forgetTurns() {
	s.mu.Lock()
	defer s.mu.Unlock()
	again := s.dec.endAgain
	s.dec, s.pendingStops = s.newDecoder(), nil
	s.dec.endAgain = again
}

// await returns when a turn is over, and stops the turn at the end of ctx. The turn goes on
// there if the gateway stops, or if somebody began it there.
func (s *session) await(ctx context.Context, o *activePrompt) error {
	select {
	case <-o.b.Ended():
	case <-s.life.Done():
	case <-ctx.Done():
		if !o.theirs && !errors.Is(context.Cause(ctx), agent.ErrDetached) {
			s.stop(o) //nolint:contextcheck // ctx is over; stopping has a bound of its own
		}
	}
	if !o.b.Over() {
		o.b.End(closed())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.main != nil && s.main.who == whoIs(o.caller) {
		s.main.used = time.Now()
	}
	if s.active == o {
		s.active = nil
	}
	return nil
}

// place finds the place of a prompt. The server shows questions and errors only to prompts that
// have one.
func (s *session) place(ctx context.Context, channel string, c agent.Caller) (place, error) {
	at := parsePlace(channel)
	if at != (place{}) {
		return at, nil
	}
	s.mu.Lock()
	at.thread = s.at.Thread
	s.mu.Unlock()
	if at.thread != "" {
		return at, nil
	}
	thread, err := s.api.thread(ctx, c, s.cfg.SessionID)
	if err != nil {
		return at, err
	}
	if thread == "" {
		return place{channel: wire.Channel{ChannelType: defaultType, ChannelID: "default"}}, nil
	}
	s.mu.Lock()
	s.at.Thread = thread
	token := s.at.token()
	s.mu.Unlock()
	s.host.Resume(token)
	return place{thread: thread}, nil
}

// send sends a prompt by HTTP. There the server checks the sender's role, and takes any size.
func (s *session) send(ctx context.Context, o *activePrompt, p agent.Prompt) error {
	at, err := s.place(ctx, p.Channel, o.caller)
	if err != nil {
		return err
	}
	user, err := s.userOf(ctx, o.caller)
	if err != nil {
		return err
	}
	out := outgoing{Prompt: wire.Prompt{Content: agentkit.PromptText(p, s.host.Files().Contains), Model: s.cfg.Model, ThreadID: at.thread, Channel: at.channel}, Traceparent: p.Caller.Traceparent}
	files, dropped := attach(p.Message, s.host.Files().Contains)
	out.Attachments = files
	for _, why := range dropped {
		o.b.Emit(trace.Error{Message: why, Code: "attachment_dropped"})
	}
	if out.Content == "" && len(out.Attachments) == 0 {
		return &failure{sentence: "The prompt holds nothing that Agent Ops can read."}
	}
	s.awaitStops(ctx, o)
	// The server may tell the end of what was stopped once more. A prompt that came before
	// would be taken for done, and its questions be shown to nobody.
	s.poll(ctx, moment, func() bool { return !s.dec.endAgain })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if _, err := s.connect(ctx, o.caller, false); err != nil { // it may have been lost meanwhile, for good
		return err
	}
	frame := out
	frame.Type = wire.Prompt{}.Type()
	s.mu.Lock()
	s.remember(p.By, o.caller)
	s.active = o
	s.dec.user = user // the newest prompt is ours
	s.decode(agent.In, agentkit.Encode(frame))
	s.mu.Unlock()
	ctx, cancel := lingering(ctx, s.life)
	defer cancel()
	return s.api.post(ctx, o.caller, out, nil, "sessions", s.cfg.SessionID, "prompt")
}

// lingering returns a context that ends a while after the first, or with the other. A prompt
// whose sending is broken off may have arrived, and nobody would stop it.
func lingering(ctx, life context.Context) (context.Context, context.CancelFunc) {
	long, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := context.AfterFunc(ctx, func() { time.AfterFunc(shortTime, cancel) })
	closed := context.AfterFunc(life, cancel)
	return long, func() {
		ended()
		closed()
		cancel()
	}
}

// enter returns a context that ends with the first, or with the session. Meanwhile the turn
// counts as alive while it waits.
func (s *session) enter(ctx context.Context, o *activePrompt) (open context.Context, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link == shut {
		return nil, nil, errClosed
	}
	open, cancel := context.WithCancelCause(ctx)
	ended := context.AfterFunc(s.life, func() { cancel(errClosed) })
	waited, done := context.WithCancel(ctx)
	s.goes.Go(func() {
		for sleep(waited, aliveEvery) {
			if s.waits(o) {
				o.b.Touch()
			}
		}
	})
	return open, func() {
		done()
		ended()
		cancel(nil)
	}, nil
}

// waits reports whether a turn waits for a usual reason: a connection is made, a stop goes
// first, the prompt is queued, or the session wakes.
func (s *session) waits(o *activePrompt) bool {
	if !s.mu.TryLock() {
		return false // a frame is being taken, which is a sign of life by itself
	}
	defer s.mu.Unlock()
	switch {
	case s.main == nil, s.blocked == o:
		return true
	case s.active != o:
		return false
	case !s.dec.asleep:
		s.asleep = time.Time{}
		fate := s.dec.fate(o.b)
		return fate == queued || fate == promoted
	case s.asleep.IsZero():
		s.asleep = time.Now()
	}
	return time.Since(s.asleep) < s.rt.wakeTime()
}
